package soundpack

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sndpak/sndpak/soundpack/internal/storage/crashsim"
)

// How many simulated crashes a run shall see at least; the environment variable counts too, since the
// flag of one package is not known to the others.
var statesFlag = flag.Int("states", 0, "crash states that the simulation shall see; 0 means SNDPAK_STATES, or 30000")

func wantStates(t testing.TB) int {
	n := *statesFlag
	if n == 0 {
		fmt.Sscan(os.Getenv("SNDPAK_STATES"), &n)
	}
	if n == 0 {
		n = 30_000
	}
	if testing.Short() {
		n = min(n, 3000)
	}
	return n
}

const (
	simData  = "d/music.data"
	simIndex = "d/music.inx"
)

// An explorer looks at what crashes leave. A state is right if a plain reader, and Open and Verify of
// this package, find one of the contents that are allowed at that moment.
type explorer struct {
	dir    string // for states that Open reads
	states int
	known  map[[2]uint64]reading
	bad    []string
	holds  []hold
	pairs  []pair
	inject int
	keep   func(crashsim.State) // sees each state; may be nil
	full   bool                 // packs have manifests, and names that are only there
	half   bool                 // data without an index is no pack: Create has moved it in place
}

type reading struct {
	key string
	err error
}

func newExplorer(t testing.TB) *explorer {
	return &explorer{dir: memDir(t), known: map[[2]uint64]reading{}}
}

// memDir is a folder in memory, which is faster, where there is one.
func memDir(t testing.TB) string {
	t.Helper()
	dir := "/dev/shm"
	if _, err := os.Stat(dir); err != nil {
		dir = ""
	}
	dir, err := os.MkdirTemp(dir, "sndpak-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (x *explorer) wrong(format string, args ...any) {
	x.bad = append(x.bad, fmt.Sprintf(format, args...))
}

// look checks one state.
func (x *explorer) look(what string, s crashsim.State, allowed []contents) {
	x.states++
	got := x.read(s)
	if got.err != nil {
		x.wrong("%s: state %v: %v", what, s, got.err)
		return
	}
	for _, c := range allowed {
		if c.key() == got.key {
			return
		}
	}
	x.wrong("%s: state %v: holds neither of %d allowed contents, the last being %v", what, s, len(allowed), allowed[len(allowed)-1])
}

// read is what a state holds. Data without a byte and no index are no pack: one was about to be made.
func (x *explorer) read(s crashsim.State) reading {
	data, index := s[simData], s[simIndex]
	switch {
	case index == nil && (data == nil || len(data.Bytes) == 0):
		return reading{key: contents(nil).key()}
	case index == nil && x.half:
		return reading{key: contents(nil).key()}
	case index == nil:
		return reading{err: errors.New("data without an index")}
	case data == nil:
		return reading{err: errors.New("index without data")}
	}
	id := [2]uint64{data.Sum, index.Sum}
	if f, ok := x.known[id]; ok {
		return f
	}
	if x.full {
		f := x.readFull(data.Bytes, index.Bytes)
		x.known[id] = f
		return f
	}
	c, err := readPlain(data.Bytes, index.Bytes)
	// Open sees the first thousand and then one in four: system calls are most of the cost.
	if n := len(x.known); err == nil && (n < 1000 || n%4 == 0) {
		err = x.open(data.Bytes, index.Bytes, c)
	}
	f := reading{c.key(), err}
	x.known[id] = f
	return f
}

// open reads the state with this package.
func (x *explorer) open(data, index []byte, want contents) error {
	path, err := x.write(data, index)
	if err != nil {
		return err
	}
	return sameContents(context.Background(), path, want)
}

func (x *explorer) write(data, index []byte) (path string, err error) {
	path = filepath.Join(x.dir, "music.data")
	return path, errors.Join(os.WriteFile(path, data, 0o644), os.WriteFile(filepath.Join(x.dir, "music.inx"), index, 0o644))
}

// readFull reads a state with its manifest, which has to fit.
func (x *explorer) readFull(data, index []byte) reading {
	path, err := x.write(data, index)
	if err != nil {
		return reading{err: err}
	}
	p, err := Open(path, nil)
	if err != nil {
		return reading{err: err}
	}
	defer p.Close()
	c, err := packContents(p)
	if err == nil {
		err = sameContents(context.Background(), path, c)
	}
	return reading{c.key(), err}
}

// cuts looks at everything that a power cut, or the death of the process, would leave now.
func (x *explorer) cuts(what string, f *crashsim.FS, allowed ...contents) {
	x.look(what+", killed", f.Live(), allowed)
	f.Cuts(isPack, func(s crashsim.State) {
		x.look(what+", power cut", s, allowed)
		if x.keep != nil {
			x.keep(s)
		}
	})
}

func isPack(path string) bool { return path == simData || path == simIndex }

// A hold is a reader that has the pack open.
type hold struct {
	what  string
	index []byte
	data  func() []byte
	want  string
}

// hold opens a reader.
func (x *explorer) hold(what string, f *crashsim.FS) {
	index := f.Bytes(simIndex)
	if c, err := readPlain(f.Bytes(simData), index); err == nil && index != nil {
		x.holds = append(x.holds, hold{what, index, f.Hold(simData), c.key()})
	}
}

// checkHolds reads again with every reader.
func (x *explorer) checkHolds() {
	for _, h := range x.holds {
		if c, err := readPlain(h.data(), h.index); err != nil || c.key() != h.want {
			x.wrong("%s: a reader that had the pack open reads other bytes now (%v)", h.what, err)
		}
	}
	x.holds = nil
}

// A pair is data and index as they were at one moment, after so many commits.
type pair struct {
	data, index []byte
	commits     int
}

// checkPairs reads each index with the data of another moment, as a plain reader does whose two opens
// have at most one commit between them: what it reads is right, or it is refused.
func (x *explorer) checkPairs(what string, allowed ...contents) {
	for _, a := range x.pairs {
		for _, b := range x.pairs {
			if d := a.commits - b.commits; d < -1 || d > 1 || a.index == nil || b.data == nil {
				continue
			}
			c, err := readPlain(b.data, a.index)
			ok := err != nil
			for _, want := range allowed {
				ok = ok || c.key() == want.key()
			}
			if !ok {
				x.wrong("%s: the index after %d commits and the data after %d hold %v", what, a.commits, b.commits, c)
			}
		}
	}
	x.pairs = nil
}

// watch makes the explorer look at each change that a session on f makes.
func (x *explorer) watch(what string, f *crashsim.FS, allowed ...contents) {
	commits := 0
	f.Before = func(op crashsim.Op) {
		if !op.Kind.Mutates() {
			return
		}
		what := fmt.Sprintf("%s, before %v", what, op)
		x.cuts(what, f, allowed...)
		x.hold(what, f)
		x.pairs = append(x.pairs, pair{f.Bytes(simData), f.Bytes(simIndex), commits})
		if op.Kind == crashsim.Rename && isPack(op.Path) {
			commits++
		}
	}
}

// once is a session.
func (x *explorer) once(t testing.TB, f *crashsim.FS, e edit) error {
	if e.create {
		return Create(t.Context(), simData, e.add.sources(), &CreateOptions{Force: true, Plain: !x.full, storage: f, pause: noPause})
	}
	return editWith(t.Context(), simData, e, &WriterOptions{Create: true, Plain: !x.full, storage: f, pause: noPause})
}

// session does an edit and looks at every crash on the way, and at those after it is done.
func (x *explorer) session(t testing.TB, what string, f *crashsim.FS, e edit, old contents) contents {
	next := e.apply(old)
	allowed := []contents{old, next}
	if x.half = old == nil && e.create; old == nil && !e.create {
		allowed = append(allowed, contents{}) // Edit has made an empty one
	}
	x.watch(what, f, allowed...)
	if err := x.once(t, f, e); err != nil {
		x.wrong("%s: %v", what, err)
		return nil
	}
	f.Before, x.half = nil, false
	x.cuts(what+", done", f, next)
	x.pairs = append(x.pairs, pair{f.Bytes(simData), f.Bytes(simIndex), 1 << 30})
	if !x.full {
		x.checkPairs(what, allowed...)
	}
	if names := strings.Join(f.Names(), " "); names != simData+" "+simIndex {
		x.wrong("%s: files %q", what, names)
	}
	return next
}

// run is a chain of edits from no pack on.
func (x *explorer) run(t testing.TB, r *rand.Rand, edits int) {
	f := crashsim.New()
	var now contents
	for k := range edits {
		e := randomEditIn(r, now, 1500, func() string {
			if !x.full || r.IntN(2) == 0 {
				return ""
			}
			return []string{"a folder/", "music/of the second level/"}[r.IntN(2)]
		})
		now = x.session(t, fmt.Sprintf("edit %d (%v)", k, e), f, e, now)
	}
	x.checkHolds()
}

func (x *explorer) report(t testing.TB, least int) {
	t.Helper()
	t.Logf("%d states, %d of them distinct packs, %d faults", x.states, len(x.known), x.inject)
	for i, b := range x.bad {
		if i == 5 {
			t.Errorf("and %d more", len(x.bad)-i)
			break
		}
		t.Error(b)
	}
	if x.states < least {
		t.Errorf("%d states, want %d", x.states, least)
	}
}

// F01, F02, F10, F11, F12: at every write, sync, rename, truncation and removal the process is killed
// or the power fails; unsynced bytes are there, missing, torn, zeros or garbage, and names reach the
// disk in any order. What is left is the old pack or the new one, and the new one once it is told.
// Readers that had the pack open go on reading what it was, and plain ones find pairs that fit.
func TestCrashStates(t *testing.T) {
	r := newRand(t)
	x := newExplorer(t)
	for want := wantStates(t); x.states < want && len(x.bad) == 0; {
		x.run(t, r, 8)
	}
	x.report(t, wantStates(t))
}

// The same with manifests: in each state the one that is there fits the index and tells the checksums
// and full names of what is there, between the steps of compacting too.
func TestCrashStatesWithManifest(t *testing.T) {
	r := newRand(t)
	x := newExplorer(t)
	x.full = true
	for want := wantStates(t) / 10; x.states < want && len(x.bad) == 0; {
		x.run(t, r, 6)
	}
	x.report(t, wantStates(t)/10)
}

// base is a pack with holes in it, and its contents.
func (x *explorer) base(t testing.TB, r *rand.Rand) (crashsim.State, contents) {
	f := crashsim.New()
	var now contents
	for k := 0; k < 4 || len(now) < 3; k++ {
		e := randomEdit(r, now, 900)
		e.compact = false
		if err := x.once(t, f, e); err != nil {
			t.Fatal(err)
		}
		now = e.apply(now)
	}
	return f.Live(), now
}

// holed is a pack from whose middle an entry has gone.
func holed(t testing.TB) (crashsim.State, contents) {
	f := crashsim.New()
	all := contents{{"stays", string(pattern(500))}, {"gone", string(pattern(600))}, {"moves", string(pattern(700))}}
	must(t, editOnce(t.Context(), f, simData, edit{add: all}))
	must(t, editOnce(t.Context(), f, simData, edit{remove: []string{"gone"}}))
	return f.Live(), contents{all[0], all[2]}
}

// sessionEdits are the kinds of sessions there are.
func sessionEdits(r *rand.Rand, now contents) []edit {
	fresh := contents{{"new 1.wav", "one " + randomBody(r, 900)}, {"new 2.wav", randomBody(r, 900)}}
	return []edit{
		{add: fresh},
		{replace: contents{{now[0].name, "another " + randomBody(r, 900)}}},
		{remove: []string{now[0].name}},
		{compact: true},
		{add: fresh[:1], remove: []string{now[1].name}, compact: true},
		{create: true, add: contents{fresh[1], {now[0].name, "another " + randomBody(r, 900)}, {"twin.wav", fresh[1].body}}},
	}
}

// F03: a writer is killed at every operation, another one comes and does its work on what the first
// left in the caches, and then the power fails.
func TestCrashKillThenWriterThenPowerCut(t *testing.T) {
	r := newRand(t)
	x := newExplorer(t)
	for want := wantStates(t) / 3; x.states < want && len(x.bad) == 0; {
		x.killThenWriter(t, r)
	}
	x.report(t, wantStates(t)/3)
}

func (x *explorer) killThenWriter(t testing.TB, r *rand.Rand) {
	start, old := x.base(t, r)
	for _, first := range sessionEdits(r, old) {
		next := first.apply(old)
		for stop := 1; ; stop++ {
			f := crashsim.FromState(start)
			f.StopAt = stop
			if err := x.once(t, f, first); err == nil {
				break
			}
			f.Revive()
			what := fmt.Sprintf("%v stopped before operation %d", first, stop)
			seen := x.read(f.Live())
			left := old
			if seen.key == next.key() {
				left = next
			} else if seen.key != old.key() {
				x.wrong("%s: neither old nor new", what)
				return
			}
			second := edit{add: contents{{"second.wav", randomBody(r, 600)}}, compact: r.IntN(2) == 0}
			final := second.apply(left)
			x.watch(what+", then "+second.String(), f, old, next, final)
			if err := x.once(t, f, second); err != nil {
				x.wrong("%s: the second writer: %v", what, err)
				return
			}
			f.Before = nil
			x.cuts(what+", and done", f, final)
			x.pairs = nil
		}
	}
	x.checkHolds()
}

// F03: the recovery from a crash crashes too. Each state that a power cut may leave is the beginning
// of another session, which is cut at every operation again.
func TestCrashTwice(t *testing.T) {
	r := newRand(t)
	x := newExplorer(t)
	for want := wantStates(t) / 3; x.states < want && len(x.bad) == 0; {
		x.twice(t, r)
	}
	x.report(t, wantStates(t)/3)
}

func (x *explorer) twice(t testing.TB, r *rand.Rand) {
	start, old := x.base(t, r)
	edits := sessionEdits(r, old)
	first := edits[r.IntN(len(edits))]
	next := first.apply(old)
	var cut []crashsim.State
	seen := 0
	x.keep = func(s crashsim.State) { // a fair choice of 40
		if seen++; len(cut) < 40 {
			cut = append(cut, s)
		} else if i := r.IntN(seen); i < len(cut) {
			cut[i] = s
		}
	}
	f := crashsim.FromState(start)
	x.watch(first.String(), f, old, next)
	if err := x.once(t, f, first); err != nil {
		x.wrong("%v: %v", first, err)
	}
	x.keep, x.pairs = nil, nil
	for _, s := range cut {
		left := old
		if x.read(s).key == next.key() {
			left = next
		}
		second := edit{add: contents{{"second.wav", randomBody(r, 300)}}, compact: r.IntN(2) == 0}
		x.session(t, fmt.Sprintf("%v cut to %v, then %v", first, s, second), crashsim.FromState(s), second, left)
	}
	x.checkHolds()
}

// errnos are what an operation fails with; with -short, which the race detector runs with, one of them.
func errnos() []error {
	all := []error{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT, syscall.EINTR, syscall.EROFS}
	if testing.Short() {
		return all[:1]
	}
	return all
}

// F04, F05, F06, F10: each operation of each kind of session fails in turn with each error, having done
// nothing, half or all of its work. The error is told, the pack is the old one to the byte or, after a
// rename alone, the new one; nothing else is left, and the next writer succeeds. A power cut after
// the failure leaves one of the two as well.
func TestWriterFaults(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprintf("manifest_%v", full), func(t *testing.T) { testWriterFaults(t, full) })
	}
}

func testWriterFaults(t *testing.T, full bool) {
	r := newRand(t)
	x := newExplorer(t)
	x.full = full
	start, old := x.base(t, r)
	for _, errno := range errnos() {
		for _, effect := range []crashsim.Effect{crashsim.None, crashsim.Half, crashsim.All} {
			fail := crashsim.Failure{Err: errno, Effect: effect}
			for _, e := range sessionEdits(r, old) {
				x.faults(t, start, e, old, fail)
			}
			x.faults(t, crashsim.State{}, edit{add: old}, nil, fail) // where there is no pack yet
			x.half = true
			x.faults(t, crashsim.State{}, edit{add: old, create: true}, nil, fail)
			x.half = false
		}
	}
	x.report(t, 0)
	if want := 200 * len(errnos()); x.inject < want {
		t.Errorf("%d faults, want %d", x.inject, want)
	}
}

func (x *explorer) faults(t testing.TB, start crashsim.State, e edit, old contents, fail crashsim.Failure) {
	next := e.apply(old)
	for at := 0; len(x.bad) == 0; at++ {
		f := crashsim.FromState(start)
		var hit crashsim.Op
		f.Inject = func(op crashsim.Op) *crashsim.Failure {
			if op.N != at {
				return nil
			}
			hit = op
			return &fail
		}
		err := x.once(t, f, e)
		if hit.Kind == "" {
			if err != nil {
				x.wrong("%v with nothing wrong: %v", e, err)
			}
			return
		}
		x.inject++
		f.Inject = nil
		x.failed(t, fmt.Sprintf("%v: %v of %v, effect %d: error %v", e, fail.Err, hit, fail.Effect, err), f, hit, fail, err, start, e, old, next)
	}
}

// failed checks what a failed operation has left.
func (x *explorer) failed(t testing.TB, what string, f *crashsim.FS, op crashsim.Op, fail crashsim.Failure, err error, start crashsim.State, e edit, old, next contents) {
	seen := x.read(f.Live())
	lives := op.Kind == crashsim.Close || op.Kind == crashsim.Free || x.full && op.Kind == crashsim.Read // can do without
	if e.create {
		switch op.Kind { // what is there need not be read, or be left out of the sources
		case crashsim.Stat, crashsim.Read, crashsim.List, crashsim.Remove:
			lives = true
		}
	}
	steps := e.compact || e.create
	if old == nil && seen.key != next.key() {
		x.firstFailed(t, what, f, e)
		return
	}
	if seen.key != old.key() && seen.key != next.key() {
		x.wrong("%s: holds neither old nor new (%v)", what, seen.err)
		return
	}
	switch {
	case err == nil && !lives:
		x.wrong("%s: told as done", what)
	case err == nil:
		if seen.key != next.key() {
			x.wrong("%s: told as done, but it is not", what)
		}
	case !errors.Is(err, fail.Err):
		x.wrong("%s: the error is not told", what)
	case !steps && errors.Is(err, ErrDurability) != (seen.key == next.key()):
		x.wrong("%s: ErrDurability says that the new pack is in place, holds it: %v", what, seen.key == next.key())
	}
	if strings.Contains(err1(err), "\n") {
		x.wrong("%s: more than one line", what)
	}
	renamed := errors.Is(err, ErrDurability)
	if names := f.Names(); op.Kind != crashsim.Remove && len(names) != 2 {
		x.wrong("%s: left %q", what, names)
	}
	if now, size := len(f.Bytes(simData)), len(start.Bytes(simData)); !steps && err != nil && !renamed && op.Kind != crashsim.Cut && now != size {
		x.wrong("%s: the data had %d bytes and has %d", what, size, now)
	}
	allowed := []contents{old, next}
	if old == nil && !e.create {
		allowed = append(allowed, contents{})
	}
	x.cuts(what+", power cut after it", f, allowed...)
	f.Revive()
	second := edit{add: contents{{"second.wav", "after the fault"}}}
	left := old
	if seen.key == next.key() {
		left = next
	}
	if err := x.once(t, f, second); err != nil {
		x.wrong("%s: the next writer: %v", what, err)
		return
	}
	x.cuts(what+", the next writer is done", f, second.apply(left))
	if names := f.Names(); len(names) != 2 {
		x.wrong("%s: after the next writer: %q", what, names)
	}
}

// firstFailed checks what the failure of the first session of all has left: no pack or an empty one,
// which the next session fills.
func (x *explorer) firstFailed(t testing.TB, what string, f *crashsim.FS, e edit) {
	x.cuts(what+", power cut after it", f, nil, contents{})
	f.Revive()
	if err := x.once(t, f, e); err != nil {
		x.wrong("%s: the next writer: %v", what, err)
		return
	}
	x.cuts(what+", the next writer is done", f, e.apply(nil))
}

func err1(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// F05: a sync that fails once and succeeds when tried again is not tried again: what it was about is
// lost, and nothing says so. The commit is not told, the same Writer goes on afterwards, and what it
// then tells survives.
func TestWriterFailedSync(t *testing.T) {
	x := newExplorer(t)
	if n := x.oneFailedSync(t, newRand(t)); n != 3 {
		t.Errorf("%d syncs in a commit, want 3", n)
	}
	x.report(t, 0)
}

// oneFailedSync lets each sync of a commit fail in turn and returns how many there are.
func (x *explorer) oneFailedSync(t testing.TB, r *rand.Rand) int {
	start, old := x.base(t, r)
	e := sessionEdits(r, old)[0]
	for at := 0; ; at++ {
		f := crashsim.FromState(start)
		w, err := editOn(t.Context(), f, simData)
		if err != nil {
			t.Fatal(err)
		}
		n, failed := 0, crashsim.Op{}
		f.Inject = func(op crashsim.Op) *crashsim.Failure {
			if op.Kind != crashsim.Sync && op.Kind != crashsim.SyncDir {
				return nil
			}
			if n++; n-1 != at {
				return nil
			}
			failed = op
			return &crashsim.Failure{Err: syscall.EIO}
		}
		err = e.do(t.Context(), w)
		if failed.Kind == "" || len(x.bad) > 0 {
			return at
		}
		x.syncFailed(t, f, w, failed, err, e, old)
	}
}

func (x *explorer) syncFailed(t testing.TB, f *crashsim.FS, w *Writer, failed crashsim.Op, err error, e edit, old contents) {
	defer w.Close()
	if err == nil || !strings.Contains(err.Error(), filepath.Base(failed.Path)) {
		x.wrong("%v failed: the error does not name it: %v", failed, err)
	}
	if failed.Kind == crashsim.SyncDir {
		if !errors.Is(err, ErrDurability) {
			x.wrong("%v failed: %v, want ErrDurability", failed, err)
		}
		return
	}
	x.cuts(fmt.Sprint(failed), f, old)
	if err := e.do(t.Context(), w); err != nil {
		x.wrong("%v failed: the same writer afterwards: %v", failed, err)
	}
	x.cuts(fmt.Sprint(failed, " and again"), f, e.apply(old))
}

// F16: what is read wrongly while compacting is noticed, since everything is read twice, and does not
// come into the final data.
func TestCompactGarbledReads(t *testing.T) {
	x := newExplorer(t)
	start, old := holed(t)
	told := 0
	for at := 0; ; at++ {
		f := crashsim.FromState(start)
		w, err := editOn(t.Context(), f, simData)
		if err != nil {
			t.Fatal(err)
		}
		begin := f.Ops()
		var hit *crashsim.Op
		reads := 0
		f.Inject = func(op crashsim.Op) *crashsim.Failure {
			if op.Kind == crashsim.Read && op.N >= begin && op.Path == simData {
				if reads++; reads-1 == at {
					hit = &op
					return &crashsim.Failure{Effect: crashsim.Garbage}
				}
			}
			return nil
		}
		err = w.Compact(t.Context())
		w.Close()
		if hit == nil {
			break
		}
		if errors.Is(err, ErrChecksum) {
			told++
			x.look(fmt.Sprint(hit), f.Live(), []contents{old})
		} else if err != nil {
			t.Errorf("%v: %v", hit, err)
		}
	}
	if x.report(t, 0); told < 2 {
		t.Errorf("%d of the garbled reads were told", told)
	}
}

// A crash at the very first commit leaves no pack, an empty one or the new one, and never data that
// keeps the next writer from its work.
func TestCrashFirstCommit(t *testing.T) {
	r := newRand(t)
	x := newExplorer(t)
	for range 20 {
		x.run(t, r, 1)
	}
	x.report(t, 100)
	f := crashsim.New()
	f.Put(simData, []byte("somebody else's"))
	if _, err := editOn(t.Context(), f, simData); !errors.Is(err, fs.ErrExist) {
		t.Errorf("data without an index: %v, want fs.ErrExist", err)
	}
	f = crashsim.New()
	f.Put(simIndex, nil)
	if _, err := editOn(t.Context(), f, simData); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an index without data: %v, want fs.ErrExist", err)
	}
}
