package deps

import (
	_ "github.com/gofrs/flock"
	_ "github.com/gopxl/beep/v2"
	_ "github.com/hajimehoshi/go-mp3"
	_ "github.com/jfreymuth/oggvorbis"
	_ "github.com/jfreymuth/pulse/proto"
	_ "github.com/jfreymuth/vorbis"
	_ "github.com/mewkiz/flac"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "go.uber.org/goleak"
	_ "golang.org/x/exp/mmap"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
)
