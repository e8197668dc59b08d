package soundpack

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// Real processes and real files. A child is this test program again, told by the environment what to do.

const childVar = "SNDPAK_TEST_CHILD"

// TestChild is what a child runs; by itself it does nothing.
func TestChild(t *testing.T) {
	args := strings.Split(os.Getenv(childVar), "|")
	do := map[string]func(t *testing.T, path string, args []string){
		"edits": childEdits, "hold": childHold, "adds": childAdds, "limit": childLimit, "creates": childCreates,
	}[args[0]]
	if do == nil {
		t.Skip("run by other tests")
	}
	do(t, args[1], args[2:])
}

// child starts one; its standard output is read line by line.
func child(t *testing.T, args ...any) (*exec.Cmd, *bufio.Scanner, io.Writer) {
	t.Helper()
	text := make([]string, len(args))
	for i, a := range args {
		text[i] = fmt.Sprint(a)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childVar+"="+strings.Join(text, "|"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, bufio.NewScanner(out), in
}

// scriptEdit is the k-th edit of a script: parent and child know what it is.
func scriptEdit(seed uint64, k int, now contents) edit {
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	e := randomEdit(r, now, 20_000)
	if len(now) > 12 {
		e = edit{compact: k%2 == 0}
		for _, f := range now[:8] {
			e.remove = append(e.remove, f.name)
		}
	}
	return e
}

// A script is what a parent knows of a pack that children edit: what it holds after k edits.
type script struct {
	path string
	seed uint64
	k    int
	now  contents // nil: there is no pack yet
}

// edit is the next one.
func (s *script) edit() edit { return scriptEdit(s.seed, s.k, s.now) }

// walk goes over the edits that were told, and over one more where that is in the pack already. The error is
// how the pack differs from both.
func (s *script) walk(ctx context.Context, told int) error {
	for range told {
		s.now = s.edit().apply(s.now)
		s.k++
	}
	err := sameContents(ctx, s.path, s.now)
	if err == nil {
		return nil
	}
	next := s.edit().apply(s.now)
	if sameContents(ctx, s.path, next) == nil {
		s.now = next
		s.k++
		return nil
	}
	return err
}

// childEdits does edits from the k-th on until it is killed, and tells of each that is done.
func childEdits(t *testing.T, path string, args []string) {
	seed, _ := strconv.ParseUint(args[0], 10, 64)
	k, _ := strconv.Atoi(args[1])
	now := contents{}
	if p, err := Open(path, nil); err == nil {
		for e := range p.Entries() {
			b, err := p.ReadFile(e.Name)
			must(t, err)
			now = append(now, file{e.Name, string(b)})
		}
		p.Close()
	}
	for ; ; k++ {
		e := scriptEdit(seed, k, now)
		if err := editOnce(t.Context(), storage.OS{}, path, e); err != nil {
			fmt.Println("error", err)
			return
		}
		now = e.apply(now)
		fmt.Println("done", k)
	}
}

// F01, F08: a process is killed at any moment while it edits, again and again. The pack then holds what
// the last edit left that was told, or that of the one after it, and the next process gets the lock.
func TestKilledProcesses(t *testing.T) {
	kills := 25
	if os.Getenv("SNDPAK_CI") == "1" {
		kills = 500
	}
	if testing.Short() {
		kills = 5
	}
	r := newRand(t)
	path, told := filepath.Join(t.TempDir(), "music.data"), 0
	s := &script{path: path, seed: r.Uint64()}
	for n := range kills {
		cmd, lines, _ := child(t, "edits", path, s.seed, s.k)
		acks := killSoon(t, r, cmd, lines, s.k)
		told += acks
		switch err := s.walk(t.Context(), acks); {
		case err == nil:
		case s.now == nil && sameContents(t.Context(), path, contents{}) == nil: // made, but no edit done
		case s.now == nil && onlyBegun(path):
		default:
			t.Fatalf("kill %d after %d edits (%d told in all): %v", n, s.k, told, err)
		}
	}
	t.Logf("%d kills, %d edits told, %d files at last", kills, told, len(s.now))
	checkContents(t, path, s.now)
	must(t, editOnce(t.Context(), storage.OS{}, path, edit{add: contents{{"last.wav", "x"}}}))
}

// onlyBegun tells whether the first pack was just about to be made.
func onlyBegun(path string) bool {
	info, err := os.Stat(path)
	_, e := os.Stat(strings.TrimSuffix(path, "data") + "inx")
	return err == nil && info.Size() == 0 && errors.Is(e, os.ErrNotExist)
}

// killSoon kills a child some time after it has told of some edits, and returns how many it told.
func killSoon(t *testing.T, r *rand.Rand, cmd *exec.Cmd, lines *bufio.Scanner, k int) (acks int) {
	t.Helper()
	wait := r.IntN(4)
	for acks < wait && lines.Scan() {
		checkAck(t, lines.Text(), k+acks)
		acks++
	}
	time.Sleep(time.Duration(r.IntN(8000)) * time.Microsecond)
	cmd.Process.Kill()
	for lines.Scan() { // what it told before it died
		checkAck(t, lines.Text(), k+acks)
		acks++
	}
	cmd.Wait()
	return acks
}

func checkAck(t *testing.T, line string, k int) {
	t.Helper()
	if want := fmt.Sprint("done ", k); line != want {
		t.Fatalf("child says %q, want %q", line, want)
	}
}

// childHold takes the lock and keeps it.
func childHold(t *testing.T, path string, _ []string) {
	w, err := Edit(t.Context(), path, nil)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("holding")
	io.Copy(io.Discard, os.Stdin) // until the parent is gone, or kills us
	w.Close()
}

// F08, F09: a second writer is told which process has the pack, or waits for it; a process that dies
// lets go; and the lock's file stays the same one all the while, whatever happens to the pack.
func TestLockedByAnotherProcess(t *testing.T) {
	path := newPack(t, three)
	lock := strings.TrimSuffix(path, "data") + "lock"
	before, err := os.Stat(lock)
	must(t, err)
	cmd, lines, _ := child(t, "hold", path)
	if !lines.Scan() || lines.Text() != "holding" {
		t.Fatalf("child says %q", lines.Text())
	}
	_, err = Edit(t.Context(), path, nil)
	if !errors.Is(err, ErrLocked) {
		t.Errorf("%v, want ErrLocked", err)
	}
	contains(t, "error", fmt.Sprint(err), fmt.Sprintf("process %d", cmd.Process.Pid), "edit music.data")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Edit(ctx, path, &WriterOptions{Wait: true}); !errors.Is(err, ErrLocked) || !errors.Is(err, context.Canceled) {
		t.Errorf("waited until cancelled: %v", err)
	}
	checkContents(t, path, three) // readers need no lock
	got := make(chan error)
	go func() { // waits for the death of the child
		w, err := Edit(t.Context(), path, &WriterOptions{Wait: true})
		if err == nil {
			err = errors.Join(w.Replace(source("empty", []byte("x"))), w.Compact(t.Context()), w.Close())
		}
		got <- err
	}()
	cmd.Process.Kill()
	cmd.Wait()
	if err := <-got; err != nil {
		t.Errorf("after the other's death: %v", err)
	}
	if after, err := os.Stat(lock); err != nil || !os.SameFile(before, after) {
		t.Errorf("the lock's file is another one: %v", err)
	}
}

// childAdds adds files one by one, each in a session of its own.
func childAdds(t *testing.T, path string, args []string) {
	n, _ := strconv.Atoi(args[1])
	for i := range n {
		w, err := Edit(t.Context(), path, &WriterOptions{Wait: true})
		if err == nil {
			err = errors.Join(w.Add(source(fmt.Sprintf("%s %d", args[0], i), []byte(args[0]))), w.Commit(t.Context()))
			if i%4 == 0 && err == nil {
				err = w.Compact(t.Context())
			}
			err = errors.Join(err, w.Close())
		}
		if err != nil {
			fmt.Println("error", err)
			return
		}
	}
	fmt.Println("done")
}

// F08: several processes add to one pack at once, and nothing of what any of them was told is lost.
func TestContendingProcesses(t *testing.T) {
	path := newPack(t, three)
	const children, each = 4, 6
	var cmds []*exec.Cmd
	var outs []*bufio.Scanner
	for c := range children {
		cmd, out, _ := child(t, "adds", path, c, each)
		cmds, outs = append(cmds, cmd), append(outs, out)
	}
	for c, cmd := range cmds {
		if !outs[c].Scan() || outs[c].Text() != "done" {
			t.Errorf("child %d says %q", c, outs[c].Text())
		}
		io.Copy(io.Discard, io.MultiReader()) // the rest is the test's own PASS
		for outs[c].Scan() {
		}
		cmd.Wait()
	}
	p := mustOpen(t, path)
	if p.Len() != len(three)+children*each {
		t.Errorf("%d entries, want %d", p.Len(), len(three)+children*each)
	}
	for c := range children {
		for i := range each {
			name := fmt.Sprintf("%d %d", c, i)
			if b, err := p.ReadFile(name); err != nil || string(b) != fmt.Sprint(c) {
				t.Errorf("%q: %q, %v", name, b, err)
			}
		}
	}
	if r, err := p.Verify(t.Context(), nil); err != nil || r.Damaged() {
		t.Errorf("verify: %v %v", r.Findings, err)
	}
}

// childCreates puts one whole pack after another in the place of what is there, until it is killed.
func childCreates(t *testing.T, path string, args []string) {
	for i := 0; ; i++ {
		mine := selfMade(fmt.Sprintf("%s %d", args[0], i), 3)
		err := Create(t.Context(), path, mine.sources(), &CreateOptions{Force: true, pause: noPause})
		if err != nil && !errors.Is(err, ErrLocked) {
			fmt.Println("error", err)
			return
		}
		if err == nil {
			fmt.Println("done", i)
		}
	}
}

// selfMade is a whole pack: each entry tells which pack it is of, and how many there are.
func selfMade(who string, n int) (c contents) {
	for i := range n {
		c = append(c, file{fmt.Sprintf("%d.wav", i), fmt.Sprintf("%s of %d %s", who, n, strings.Repeat(who, 500*(i+1)))})
	}
	return c
}

// checkSelfMade looks whether a pack is one whole pack of selfMade, with whatever was added to it.
func checkSelfMade(path string) error {
	p, err := Open(path, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	first, err := p.ReadFile("0.wav")
	if err != nil {
		return err
	}
	who, _, _ := strings.Cut(string(first), " of ")
	for _, f := range selfMade(who, 3) {
		if b, err := p.ReadFile(f.name); err != nil || string(b) != f.body {
			return fmt.Errorf("%s of the pack %q: %d bytes, %.20q, %v", f.name, who, len(b), b, err)
		}
	}
	if r, err := p.Verify(context.Background(), nil); err != nil || r.Damaged() {
		return fmt.Errorf("verify: %v, %v", r.Findings, err)
	}
	return nil
}

// F01, F08: processes make the same pack anew without a pause while another adds to it, and are killed
// at any moment. What can be opened is at all times one whole pack, and nothing is left at the end.
func TestRacingCreates(t *testing.T) {
	rounds := 4
	if os.Getenv("SNDPAK_CI") == "1" {
		rounds = 10
	}
	r := newRand(t)
	path := filepath.Join(memDir(t), "music.data")
	must(t, Create(t.Context(), path, selfMade("parent", 3).sources(), nil))
	made := 0
	for round := range rounds {
		var cmds []*exec.Cmd
		for c := range 2 {
			cmd, lines, _ := child(t, "creates", path, fmt.Sprintf("%d.%d", round, c))
			if !lines.Scan() {
				t.Fatalf("round %d: child %d made nothing", round, c)
			}
			cmds = append(cmds, cmd)
			t.Cleanup(func() { cmd.Process.Kill() })
			made++
		}
		for i := range 4 {
			w, err := Edit(t.Context(), path, &WriterOptions{Wait: true})
			if err == nil {
				err = errors.Join(w.Replace(source(fmt.Sprintf("added %d", i), []byte("x"))), w.Commit(t.Context()), w.Close())
			}
			if err == nil {
				err = checkSelfMade(path)
			}
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
		}
		for _, cmd := range cmds {
			cmd.Process.Kill()
			cmd.Wait()
		}
		if err := checkSelfMade(path); err != nil {
			t.Fatalf("round %d, after the kills: %v", round, err)
		}
	}
	must(t, Create(t.Context(), path, selfMade("last", 3).sources(), &CreateOptions{Force: true}))
	must(t, checkSelfMade(path))
	for _, f := range listing(t, filepath.Dir(path)) {
		if strings.HasSuffix(f, ".tmp") {
			t.Errorf("left %q", f)
		}
	}
}

// X11: two adds at the same time, fifty times: each is in, or was refused by the lock.
func TestCaseTwoAddsAtOnce(t *testing.T) {
	for round := range 50 {
		path := copyCase(t, "P01")
		before, _ := rawContents(t, path)
		var wg sync.WaitGroup
		var errs [2]error
		for i := range errs {
			wg.Go(func() {
				w, err := Edit(t.Context(), path, nil)
				if errs[i] = err; err == nil {
					errs[i] = errors.Join(w.Add(source(fmt.Sprintf("new %d", i), []byte{byte(i)})), w.Commit(t.Context()), w.Close())
				}
			})
		}
		wg.Wait()
		want := len(before)
		p := mustOpen(t, path)
		for i, err := range errs {
			_, in := p.Lookup(fmt.Sprintf("new %d", i))
			if in != (err == nil) || err != nil && !errors.Is(err, ErrLocked) {
				t.Errorf("round %d: add %d: %v, in it: %v", round, i, err, in)
			}
			if in {
				want++
			}
		}
		if p.Len() != want || want == len(before) {
			t.Errorf("round %d: %d entries, want %d", round, p.Len(), want)
		}
		if r, _ := p.Verify(t.Context(), nil); r.Damaged() {
			t.Errorf("round %d: verify: %v", round, r.Findings)
		}
	}
}

// selfChecking is a body that tells by itself whether it is whole and whose it is.
func selfChecking(name string, r *rand.Rand) string {
	rest := name + " " + randomBody(r, 3000)
	s := sha256.Sum256([]byte(rest))
	return hex.EncodeToString(s[:]) + rest
}

func checkSelf(name string, b []byte) error {
	if len(b) < 64 {
		return fmt.Errorf("%q: %d bytes", name, len(b))
	}
	if sum(b[64:]) != string(b[:64]) || !strings.HasPrefix(string(b[64:]), name+" ") {
		return fmt.Errorf("%q: wrong bytes", name)
	}
	return nil
}

// F11, F12: readers open the pack again and again while a writer changes and compacts it without a
// pause. They never see a wrong byte, and one that has it open through all of it reads on.
func TestReadersBesideAWriter(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	r := newRand(t)
	var start contents
	for i := range 8 {
		name := fmt.Sprintf("sound %d.wav", i)
		start = append(start, file{name, selfChecking(name, r)})
	}
	path := newPack(t, start)
	held := mustOpen(t, path)
	var done atomic.Bool
	var opens, checks atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				if err := checkAll(path, &checks); err != nil {
					t.Error(err)
					return
				}
				opens.Add(1)
			}
		})
	}
	for k := range rounds {
		w, err := Edit(t.Context(), path, &WriterOptions{pause: noPause})
		must(t, err)
		name := fmt.Sprintf("sound %d.wav", r.IntN(8))
		must(t, w.Replace(source(name, []byte(selfChecking(name, r)))))
		if k%3 > 0 {
			must(t, w.Compact(t.Context()))
		} else {
			must(t, w.Commit(t.Context()))
		}
		must(t, w.Close())
		runtime.Gosched()
	}
	done.Store(true)
	wg.Wait()
	t.Logf("%d opens, %d bodies checked", opens.Load(), checks.Load())
	for _, f := range start {
		if b, err := held.ReadFile(f.name); err != nil || string(b) != f.body {
			t.Errorf("%q of the pack that was open all the time: %v", f.name, err)
		}
	}
}

func checkAll(path string, checks *atomic.Int64) error {
	p, err := Open(path, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	for e := range p.Entries() {
		f, err := p.OpenEntry(e)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(f)
		f.Close()
		if err == nil {
			err = checkSelf(e.Name, b)
		}
		if err != nil {
			return err
		}
		checks.Add(1)
	}
	return nil
}

// childLimit edits under a limit of the size of files.
func childLimit(t *testing.T, path string, args []string) {
	size, _ := strconv.ParseUint(args[0], 10, 64)
	if err := limitFiles(size); err != nil {
		fmt.Println("error", err)
		return
	}
	err := editOnce(t.Context(), storage.OS{}, path, edit{add: contents{{"big", string(pattern(100_000))}}})
	fmt.Println("error", errors.Is(err, syscall.EFBIG), err)
	err = editOnce(t.Context(), storage.OS{}, path, edit{add: contents{{"small", "small"}}})
	fmt.Println("error", err)
}
