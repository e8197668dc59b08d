//go:build windows || darwin || (alsa && cgo)

package output

import "go.uber.org/goleak"

// leakOptions leave out what the library keeps for good: the context of the process.
var leakOptions = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/ebitengine/oto/v3/internal/mux.(*Mux).loop"),
	goleak.IgnoreAnyFunction("github.com/ebitengine/oto/v3.(*context).readAndWrite"),
	goleak.IgnoreAnyFunction("github.com/ebitengine/oto/v3.(*context).loop"),
}
