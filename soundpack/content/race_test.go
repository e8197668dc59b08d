package content

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
)

var seedFlag = flag.Uint64("seed", 0, "seed of random tests; 0 takes a new one")

func newSeed(t testing.TB) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	return seed
}

const crowd = 100 // goroutines

// TestCrowdLoadsOnce: where there is room for all, a hundred goroutines load nothing twice.
func TestCrowdLoadsOnce(t *testing.T) {
	seed := newSeed(t)
	const keys = 64
	r := newRig(t, keys*1000, keys, ones)
	var all sync.WaitGroup
	for g := range crowd {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(g)))
			for _, k := range rnd.Perm(keys) {
				h := r.get(t, k)
				if v := h.Value(); v.key != k || v.freed.Load() {
					t.Errorf("key %d: got thing %d, freed %v", k, v.key, v.freed.Load())
				}
				release(t, h)
			}
		})
	}
	all.Wait()
	for k := range keys {
		if got := r.loads[k].Load(); got != 1 {
			t.Errorf("loads of %d: got %d, want 1", k, got)
		}
	}
	if s := r.Stats(); s.Hits+s.Waits+s.Loads != crowd*keys || s.Peak > s.Budget {
		t.Errorf("got %+v", s)
	}
}

// TestCrowdUnderPressure: a hundred goroutines want more than there is room for, give up, fail, forget
// and release twice. The budget is held at every moment, and no value goes while it is held.
func TestCrowdUnderPressure(t *testing.T) {
	seed := newSeed(t)
	const keys, budget = 40, 25_000
	r := newRig(t, budget, keys, func(k int) int64 { return int64(100 * (k%10 + 1)) })
	const steps = 100
	var all sync.WaitGroup
	for g := range crowd {
		all.Go(func() { pester(t, r, rand.New(rand.NewPCG(seed, uint64(g))), steps, keys) })
	}
	all.Wait()
	s := r.Stats()
	if s.Peak > budget {
		t.Errorf("peak %d is over the budget of %d", s.Peak, budget)
	}
	if leaks := r.Leaks(); len(leaks) != 0 || s.Loading != 0 && s.Canceled == 0 {
		t.Errorf("left over: %v, %+v", leaks, s)
	}
	if s.Evicted == 0 || s.Hits == 0 || s.Waits == 0 || s.Misused == 0 {
		t.Errorf("the test does not press: %+v", s)
	}
}

func pester(t *testing.T, r *rig, rnd *rand.Rand, steps, keys int) {
	var mine []*Handle[*thing]
	for range steps {
		switch k := rnd.IntN(keys); rnd.IntN(10) {
		case 0:
			r.kind.Forget(func(other int) bool { return other == k })
		case 1:
			ctx, cancel := context.WithCancel(context.Background())
			go cancel()
			mine = keep(t, mine, r, ctx, k)
			cancel()
		case 2, 3, 4, 5:
			mine = keep(t, mine, r, context.Background(), k)
		default:
			mine = letGo(t, mine, rnd)
		}
		for len(mine) > 2 { // so that there is mostly room
			mine = letGo(t, mine, rnd)
		}
	}
	release(t, mine...)
}

func keep(t *testing.T, mine []*Handle[*thing], r *rig, ctx context.Context, k int) []*Handle[*thing] {
	h, err := r.kind.Get(ctx, k)
	if errors.Is(err, ErrBudget) || errors.Is(err, context.Canceled) {
		return mine
	}
	if err != nil || h.Value().key != k {
		t.Errorf("key %d: %v", k, err)
		return mine
	}
	return append(mine, h)
}

func letGo(t *testing.T, mine []*Handle[*thing], rnd *rand.Rand) []*Handle[*thing] {
	if len(mine) == 0 {
		return mine
	}
	i := rnd.IntN(len(mine))
	h := mine[i]
	if v := h.Value(); v == nil || v.freed.Load() {
		t.Error("a value went while it was held")
	}
	release(t, h)
	if rnd.IntN(4) == 0 {
		if err := h.Release(); !errors.Is(err, ErrReleased) {
			t.Errorf("second release: %v", err)
		}
	}
	return append(mine[:i], mine[i+1:]...)
}

// TestModel runs one goroutine's random steps beside a plain list of what should be there.
func TestModel(t *testing.T) {
	seed := newSeed(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	const keys, budget = 12, 8_000
	r := newRig(t, budget, keys, ones)
	m := model{refs: make([]int, keys), loads: make([]int64, keys)}
	handles := make([][]*Handle[*thing], keys)
	for step := range 5000 {
		k := rnd.IntN(keys)
		if n := len(handles[k]); n > 0 && rnd.IntN(2) == 0 {
			release(t, handles[k][n-1])
			handles[k] = handles[k][:n-1]
			m.release(k)
		} else {
			h, err := r.kind.Get(context.Background(), k)
			if want := m.get(k, budget/1000); (err == nil) != want {
				t.Fatalf("step %d, key %d: got %v, want success %v", step, k, err, want)
			}
			if err == nil {
				handles[k] = append(handles[k], h)
			}
		}
		if got := r.loads[k].Load(); got != m.loads[k] {
			t.Fatalf("step %d: loads of %d: got %d, want %d", step, k, got, m.loads[k])
		}
	}
	for _, h := range handles {
		release(t, h...)
	}
}

// model is a cache of items of the same size.
type model struct {
	refs  []int
	loads []int64
	lru   []int // loaded, used last behind the others
}

func (m *model) get(k, room int) bool {
	i := index(m.lru, k)
	if i < 0 {
		if len(m.lru) == room {
			if i = m.oldestIdle(); i < 0 {
				return false // without a load: there is no room to begin with
			}
			m.lru = append(m.lru[:i], m.lru[i+1:]...)
		}
		m.lru = append(m.lru, k)
		m.loads[k]++
	}
	m.refs[k]++
	return true
}

func (m *model) oldestIdle() int {
	for i, k := range m.lru {
		if m.refs[k] == 0 {
			return i
		}
	}
	return -1
}

// release makes k the one used last once nobody holds it.
func (m *model) release(k int) {
	if m.refs[k]--; m.refs[k] == 0 {
		i := index(m.lru, k)
		m.lru = append(append(m.lru[:i], m.lru[i+1:]...), k)
	}
}

func index(s []int, v int) int {
	for i := range s {
		if s[i] == v {
			return i
		}
	}
	return -1
}
