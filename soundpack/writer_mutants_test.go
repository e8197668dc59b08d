//go:build mutants

package soundpack

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/sndpak/sndpak/soundpack/internal/storage/crashsim"
)

// Every rule of the protocol is broken in turn, and the simulation finds out: else it could not be
// believed when it finds nothing.
func TestMutants(t *testing.T) {
	defer func() { mutant = "" }()
	for _, m := range []mutation{
		noDataSync, noIndexSync, noFileSync, noCopySync, noDirSync, noStepSync, noFreshSync, noSessionSync,
		inPlaceIndex, appendAtLive, twoRenames, twoRenamesBack, skipStone, cutInPlace, noCutBack, goOnAfterSync,
	} {
		t.Run(string(m), func(t *testing.T) {
			mutant = m
			states := 0
			for seed := range uint64(40) {
				if bad := hunt(t, seed, &states); bad != "" {
					t.Logf("found after %d states: %s", states, bad)
					return
				}
			}
			t.Errorf("lives: %d states, and nobody noticed that %s", states, m)
		})
	}
}

// hunt does what the tests of the protocol do, a little of each, and returns what is wrong.
func hunt(t *testing.T, seed uint64, states *int) string {
	r := rand.New(rand.NewPCG(seed, 2))
	x := newExplorer(t)
	defer func() { *states += x.states }()
	for _, do := range []func(){
		func() { x.run(t, r, 4) },
		func() { x.oneFailedSync(t, r) },
		func() { x.someFaults(t, r) },
		func() { x.killThenWriter(t, r) },
	} {
		if do(); len(x.bad) > 0 {
			return fmt.Sprintf("%.300s", x.bad[0])
		}
	}
	return ""
}

// someFaults is a little of TestWriterFaults.
func (x *explorer) someFaults(t testing.TB, r *rand.Rand) {
	start, old := x.base(t, r)
	for _, e := range sessionEdits(r, old) {
		x.faults(t, start, e, old, crashsim.Failure{Err: syscall.EIO, Effect: crashsim.Half})
	}
}
