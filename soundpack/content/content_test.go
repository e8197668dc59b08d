package content

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// thing is a value of tests, which knows whether it is still good.
type thing struct {
	key   int
	freed atomic.Bool
}

// rig is a cache with one kind, whose item k costs size(k) bytes beside itemCost.
type rig struct {
	*Cache
	kind  *Kind[int, *thing]
	loads []atomic.Int64 // by key
	gate  chan struct{}  // where not nil, loads wait for it or for their context
	fail  atomic.Pointer[error]
}

func newRig(t testing.TB, budget int64, keys int, size func(int) int64) *rig {
	r := &rig{Cache: New(Options{Budget: budget, Track: true}), loads: make([]atomic.Int64, keys)}
	r.kind = NewKind(r.Cache, "thing", func(ctx context.Context, key int, reserve Reserve) (*thing, error) {
		r.loads[key].Add(1)
		if r.gate != nil {
			select {
			case <-r.gate:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if err := r.fail.Load(); err != nil {
			return nil, *err
		}
		if err := reserve(size(key)); err != nil {
			return nil, err
		}
		return &thing{key: key}, nil
	}, func(v *thing) {
		if v.freed.Swap(true) {
			t.Errorf("thing %d: freed twice", v.key)
		}
	})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if s := r.Stats(); s.Used != 0 || s.Items != 0 || s.Loading != 0 {
			t.Errorf("closed, but %+v", s)
		}
	})
	return r
}

func (r *rig) get(t testing.TB, key int) *Handle[*thing] {
	t.Helper()
	h, err := r.kind.Get(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func release[V any](t testing.TB, handles ...*Handle[V]) {
	t.Helper()
	for i, h := range handles {
		if err := h.Release(); err != nil {
			t.Errorf("handle %d: %v", i, err)
		}
	}
}

func ones(int) int64 { return 1000 - itemCost }

// waitFor spins until ok; a wait that never ends is the test's time-out.
func waitFor(ok func() bool) {
	for !ok() {
		runtime.Gosched()
	}
}

func TestOneLoadForAll(t *testing.T) {
	r := newRig(t, 10_000, 1, ones)
	r.gate = make(chan struct{})
	var all sync.WaitGroup
	handles := make([]*Handle[*thing], 100)
	for i := range handles {
		all.Go(func() { handles[i] = r.get(t, 0) })
	}
	waitFor(func() bool { return r.Stats().Waits == 99 })
	close(r.gate)
	all.Wait()
	for i, h := range handles {
		if h.Value() != handles[0].Value() {
			t.Errorf("handle %d: another value than handle 0", i)
		}
	}
	if got := r.loads[0].Load(); got != 1 {
		t.Errorf("loads: got %d, want 1", got)
	}
	if got := handles[0].Size(); got != 1000 {
		t.Errorf("size: got %d, want 1000", got)
	}
	release(t, handles...)
	if s := r.Stats(); s.Idle != 1000 || s.Held != 0 || s.Items != 1 {
		t.Errorf("all released: %+v", s)
	}
}

func TestOneGivesUpOthersWait(t *testing.T) {
	r := newRig(t, 10_000, 1, ones)
	r.gate = make(chan struct{})
	ctx, cancel := context.WithCancelCause(context.Background())
	gaveUp := make(chan error)
	go func() {
		_, err := r.kind.Get(ctx, 0)
		gaveUp <- err
	}()
	waitFor(func() bool { return r.Stats().Loads == 1 })
	stays := make(chan *Handle[*thing])
	go func() { stays <- r.get(t, 0) }()
	waitFor(func() bool { return r.Stats().Waits == 1 })
	why := errors.New("the level was left")
	cancel(why)
	if err := <-gaveUp; !errors.Is(err, why) {
		t.Errorf("who gave up: got %v, want %v", err, why)
	}
	close(r.gate)
	release(t, <-stays)
	if s := r.Stats(); s.Canceled != 0 || s.Loads != 1 {
		t.Errorf("got %+v, want one load and none canceled", s)
	}
}

func TestAllGiveUp(t *testing.T) {
	r := newRig(t, 10_000, 1, ones)
	r.gate = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	gaveUp := make(chan error)
	go func() {
		_, err := r.kind.Get(ctx, 0)
		gaveUp <- err
	}()
	waitFor(func() bool { return r.loads[0].Load() == 1 })
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	waitFor(func() bool { return r.Stats().Canceled == 1 })
	if _, err := r.kind.Get(ctx, 0); !errors.Is(err, context.Canceled) || r.Stats().Loads != 1 {
		t.Errorf("with a context that ended: %v, %d loads", err, r.Stats().Loads)
	}
	close(r.gate)
	release(t, r.get(t, 0)) // is not told of the load that was given up
	if got := r.loads[0].Load(); got != 2 {
		t.Errorf("loads: got %d, want 2", got)
	}
}

func TestFailureIsToldAndForgotten(t *testing.T) {
	r := newRig(t, 10_000, 1, ones)
	r.gate = make(chan struct{})
	var err error = &fs.PathError{Op: "open", Path: "0", Err: fs.ErrNotExist}
	r.fail.Store(&err)
	errs := make(chan error)
	for range 10 {
		go func() {
			_, err := r.kind.Get(context.Background(), 0)
			errs <- err
		}()
	}
	waitFor(func() bool { return r.Stats().Waits == 9 })
	close(r.gate)
	const want = `content: thing "0": open 0: file does not exist`
	for i := range 10 {
		if err := <-errs; !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
			t.Errorf("waiter %d: got %q, want %q", i, err, want)
		}
	}
	r.fail.Store(nil)
	release(t, r.get(t, 0))
	if s := r.Stats(); s.Failed != 1 || s.Loads != 2 || s.Used != 1000 {
		t.Errorf("got %+v, want 1 of 2 failed, 1000 bytes", s)
	}
}

func TestLoadThatPanics(t *testing.T) {
	c := New(Options{})
	k := NewKind(c, "trap", func(_ context.Context, key string, reserve Reserve) (int, error) {
		if err := reserve(100); err != nil {
			return 0, err
		}
		if key == "exit" {
			runtime.Goexit()
		}
		panic("boom")
	}, nil)
	for key, want := range map[string]string{
		"panic": `content: trap "panic": load panicked: boom`,
		"exit":  `content: trap "exit": load ended its goroutine`,
	} {
		if _, err := k.Get(context.Background(), key); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := c.Close(); err != nil || c.Stats().Used != 0 {
		t.Errorf("close: %v, %+v", err, c.Stats())
	}
}

func TestEvictsWhatWasUsedLongestAgo(t *testing.T) {
	r := newRig(t, 3000, 6, func(k int) int64 { return 1000*int64(1+k/5) - itemCost })
	var h []*Handle[*thing]
	for k := range 3 {
		h = append(h, r.get(t, k))
	}
	if _, err := r.kind.Get(context.Background(), 3); !errors.Is(err, ErrBudget) {
		t.Fatalf("all held: got %v, want %v", err, ErrBudget)
	}
	release(t, h[1], h[0], h[2])
	release(t, r.get(t, 1)) // used last now; order: 0 2 1
	release(t, r.get(t, 3))
	if !h[0].it.value.freed.Load() || h[2].it.value.freed.Load() || h[1].it.value.freed.Load() {
		t.Error("0 should be gone, 1 and 2 not")
	}
	held := r.get(t, 2) // order: 1 3, 2 held
	big := r.get(t, 5)  // two thousand bytes: 1 and 3 go
	if s := r.Stats(); s.Evicted != 3 || s.Used != 3000 || s.Peak != 3000 {
		t.Errorf("got %+v, want 3 evicted and 3000 bytes", s)
	}
	for _, l := range r.Leaks() {
		if !strings.Contains(l.String(), "content_test.go:") {
			t.Errorf("leak %q tells no place", l)
		}
	}
	release(t, held, big)
}

func TestNothingGoesInVain(t *testing.T) {
	r := newRig(t, 3000, 3, func(k int) int64 { return []int64{1000, 1000, 2500}[k] - itemCost })
	held := r.get(t, 0)
	release(t, r.get(t, 1))
	_, err := r.kind.Get(context.Background(), 2)
	// itemCost was there for it, and is not held any more.
	const want = `content: thing "2": no room in the budget: 1988 bytes wanted, 1512 of 3000 are held`
	if !errors.Is(err, ErrBudget) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if s := r.Stats(); s.Evicted != 0 || s.Used != 2000 {
		t.Errorf("got %+v, want nothing evicted", s)
	}
	release(t, held)
}

func TestReleaseTwice(t *testing.T) {
	r := newRig(t, 10_000, 1, ones)
	a, b := r.get(t, 0), r.get(t, 0)
	release(t, a)
	for range 3 {
		if err := a.Release(); !errors.Is(err, ErrReleased) {
			t.Errorf("second release: got %v, want %v", err, ErrReleased)
		}
	}
	if a.Value() != nil {
		t.Error("a value after release")
	}
	if _, err := a.Clone(); !errors.Is(err, ErrReleased) {
		t.Errorf("clone after release: %v", err)
	}
	r.Trim(0)
	if b.Value().freed.Load() {
		t.Error("the other handle's value was freed")
	}
	if s := r.Stats(); s.Misused != 5 || s.Held != 1 {
		t.Errorf("got %+v, want 5 misused and 1 held", s)
	}
	c, err := b.Clone()
	if err != nil {
		t.Fatal(err)
	}
	release(t, b)
	if leaks := r.Leaks(); len(leaks) != 1 || leaks[0].Handles != 1 || len(leaks[0].Taken) != 1 {
		t.Errorf("got %v, want one handle", leaks)
	}
	v := c.Value()
	release(t, c)
	r.Trim(0)
	if !v.freed.Load() || r.Stats().Items != 0 {
		t.Error("still there after the last release and Trim")
	}
}

func TestForget(t *testing.T) {
	r := newRig(t, 10_000, 4, ones)
	held := r.get(t, 0)
	release(t, r.get(t, 1), r.get(t, 2))
	if n := r.kind.Forget(func(k int) bool { return k < 2 }); n != 2 {
		t.Errorf("forgotten: got %d, want 2", n)
	}
	fresh := r.get(t, 0)
	if fresh.Value() == held.Value() || held.Value().freed.Load() {
		t.Error("the old content should stay with its holder, and the new be another")
	}
	old := held.Value()
	release(t, held)
	if !old.freed.Load() {
		t.Error("forgotten content stays after its last release")
	}
	release(t, r.get(t, 1), r.get(t, 2), fresh)
	for k, want := range []int64{2, 2, 1} {
		if got := r.loads[k].Load(); got != want {
			t.Errorf("loads of %d: got %d, want %d", k, got, want)
		}
	}
	r.gate = make(chan struct{})
	late := make(chan *Handle[*thing])
	go func() { late <- r.get(t, 3) }()
	waitFor(func() bool { return r.loads[3].Load() == 1 })
	if n := r.kind.Forget(nil); n != 4 {
		t.Errorf("forgotten: got %d, want 4", n)
	}
	close(r.gate)
	release(t, <-late)
	if s := r.Stats(); s.Items != 0 || s.Used != 0 {
		t.Errorf("got %+v, want nothing left", s)
	}
}

func TestSetBudget(t *testing.T) {
	r := newRig(t, -1, 5, ones)
	held := r.get(t, 0)
	for k := 1; k < 5; k++ {
		release(t, r.get(t, k))
	}
	r.SetBudget(2500)
	if s := r.Stats(); s.Used != 2000 || s.Evicted != 3 {
		t.Errorf("got %+v, want 2000 bytes, 3 evicted", s)
	}
	r.SetBudget(500) // what is held stays, and goes as soon as it is not
	release(t, held)
	if s := r.Stats(); s.Used != 0 {
		t.Errorf("got %+v, want nothing", s)
	}
	r.SetBudget(0)
	if got := r.Stats().Budget; got != defaultBudget {
		t.Errorf("budget: got %d, want %d", got, defaultBudget)
	}
}

func TestClose(t *testing.T) {
	r := newRig(t, 10_000, 3, ones)
	held := r.get(t, 0)
	release(t, r.get(t, 1))
	r.gate = make(chan struct{})
	waiting := make(chan error)
	go func() {
		_, err := r.kind.Get(context.Background(), 2)
		waiting <- err
	}()
	waitFor(func() bool { return r.loads[2].Load() == 1 })
	err := r.Close()
	if err == nil || !strings.Contains(err.Error(), `1 items are held: thing "0" is held 1 times, taken at `) {
		t.Errorf("close: %v", err)
	}
	if err := <-waiting; !errors.Is(err, ErrClosed) {
		t.Errorf("who waited: got %v, want %v", err, ErrClosed)
	}
	if _, err := r.kind.Get(context.Background(), 0); !errors.Is(err, ErrClosed) {
		t.Errorf("get: got %v, want %v", err, ErrClosed)
	}
	v := held.Value()
	if v == nil || v.freed.Load() {
		t.Error("what is held should stay good")
	}
	release(t, held)
	if !v.freed.Load() {
		t.Error("what was held should go with its release")
	}
}

func TestReserveAfterTheLoad(t *testing.T) {
	c := New(Options{})
	var kept Reserve
	k := NewKind(c, "late", func(_ context.Context, key int, reserve Reserve) (int, error) {
		kept = reserve
		return key, reserve(-1 << 40) // gives back no more than it has
	}, nil)
	h, err := k.Get(context.Background(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := kept(1); err == nil || c.Stats().Used != 0 {
		t.Errorf("reserve after the load: %v, %d bytes", err, c.Stats().Used)
	}
	release(t, h)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Nested: content of one kind that holds content of another.
func TestLoadThatGets(t *testing.T) {
	r := newRig(t, 10_000, 1, ones)
	pair := NewKind(r.Cache, "pair", func(ctx context.Context, key string, _ Reserve) (*Handle[*thing], error) {
		return r.kind.Get(ctx, len(key))
	}, func(h *Handle[*thing]) { release(t, h) })
	h, err := pair.Get(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(h.Value().Value().key); got != "0" {
		t.Errorf("got %s, want 0", got)
	}
	release(t, h)
	r.Trim(1000)
	if s := r.Stats(); s.Held != 0 || s.Used != 1000 {
		t.Errorf("got %+v, want the inner one idle", s)
	}
}
