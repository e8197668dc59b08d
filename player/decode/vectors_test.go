package decode

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestFLACVectors decodes the conformance streams of the IETF's cellar group: the samples have the MD5 of
// STREAMINFO, and what is faulty is told.
func TestFLACVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedDir(t, "vectors", "flac"), "*.flac"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data := readFile(t, file)
			s := openBytes(t, data)
			s.codec.(summer).startSum()
			got, err := floatsUpTo(s)
			if err != io.EOF {
				t.Fatalf("after %d samples: %v", len(got), err)
			}
			t.Logf("%+v", s.Info())
			if strings.HasPrefix(filepath.Base(file), "faulty") {
				if len(s.Info().Warnings) == 0 {
					t.Error("nothing is told of the fault")
				}
			}
			if err := s.codec.(summer).checkSum(); err != nil {
				t.Error(err)
			}
			seeksLikeStraight(t, data, 60)
		})
	}
}
