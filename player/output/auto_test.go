package output

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Fault F31: without any device there is a silent one that keeps time, and one clear line says why.
func TestAutoFallsToNull(t *testing.T) {
	noLeak(t)
	noServer(t)
	var told warnings
	d, err := Open("auto", Config{Warn: told.add, Reopen: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	list := told.all()
	if d.Name() != "null" || len(list) != 1 {
		t.Fatalf("got %q and %d warnings, want null and 1: %q", d.Name(), len(list), list)
	}
	for _, want := range []string{"output: device not available", "pulse: ", "speaker: "} {
		if !strings.Contains(list[0], want) {
			t.Errorf("the warning does not say %q: %q", want, list[0])
		}
	}
	if strings.Contains(list[0], "\n") || strings.Count(list[0], "output:") != 1 {
		t.Errorf("not one plain line: %q", list[0])
	}
}

func TestAutoOrder(t *testing.T) {
	c, _ := Config{}.normal()
	bad := func(name string) candidate {
		err := fmt.Errorf("output: %s: %w: nobody\nis there", name, ErrUnavailable)
		return candidate{name, fakeOpener(err)}
	}
	good := func(name string) candidate {
		return candidate{name, func(context.Context, Config) (Device, error) { return &fakeDevice{name: name, core: newCore()}, nil }}
	}
	tests := []struct {
		from     []candidate
		want     string
		warnings []string
	}{
		{[]candidate{good("a"), good("b")}, "a", nil},
		{[]candidate{bad("a"), good("b")}, "b", nil},
		{[]candidate{bad("a"), bad("b")}, "null", []string{"output: device not available, so nothing will be heard: a: nobody is there; b: nobody is there"}},
		{nil, "null", []string{"output: device not available, so nothing will be heard: "}},
	}
	for i, tt := range tests {
		var told warnings
		c.Warn = told.add
		d := openAuto(c, tt.from)
		if d.Name() != tt.want || fmt.Sprint(told.all()) != fmt.Sprint(tt.warnings) {
			t.Errorf("%d: got %q, %q; want %q, %q", i, d.Name(), told.all(), tt.want, tt.warnings)
		}
		d.Close()
	}
}

// Whatever a device does on opening, auto comes to an end.
func TestAutoIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := candidate{"hang", func(ctx context.Context, _ Config) (Device, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		c, _ := Config{}.normal()
		begun := time.Now()
		d := openAuto(c, []candidate{hang, hang, hang})
		if took := time.Since(begun); took > autoWait || d.Name() != "null" {
			t.Errorf("got %q after %v, want null after at most %v", d.Name(), took, autoWait)
		}
		d.Close()
	})
}

// A device that auto has found is opened again when it is lost.
func TestAutoReopens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{}
		var told warnings
		c, _ := Config{Warn: told.add, Reopen: time.Minute}.normal()
		d := openAuto(c, []candidate{{"fake", rig.open}})
		r := &ramp{n: forever}
		start(t, d, r.fill)
		rig.last().stop(fmt.Errorf("output: fake: %w", ErrLost))
		time.Sleep(time.Second)
		synctest.Wait()
		if len(rig.devices()) != 2 || len(told.all()) != 2 {
			t.Errorf("got %d devices and warnings %q, want 2 and 2", len(rig.devices()), told.all())
		}
		d.Close()
		if err := d.Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestReason(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{fmt.Errorf("output: x: %w: why", ErrUnavailable), "x: why"},
		{fmt.Errorf("output: x: %w", errors.New("why")), "x: why"},
		{errors.New("why\n  not"), "x: why not"},
		{context.DeadlineExceeded, "x: context deadline exceeded"},
	}
	for i, tt := range tests {
		if got := reason("x", tt.err); got != tt.want {
			t.Errorf("%d: got %q, want %q", i, got, tt.want)
		}
	}
}
