// Sndpak packs the sounds of a game into one pack, and looks into it, checks it and plays from it.
//
// Data goes to standard output, everything else to standard error. The exit status is 0 when all
// was done, 1 when something failed, 2 for wrong usage, 3 when the pack or an entry is damaged and
// 4 when there is no such entry.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(status)
}

// streams are the three files of a process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the whole program: it runs the command that args name and returns the exit status.
func run(ctx context.Context, args []string, std streams) int {
	root := newRoot(std)
	help := &keptWriter{w: std.out}
	keepHelp(root, help)
	root.SetArgs(args)
	err := root.ExecuteContext(withDashes(ctx, args))
	if err == nil {
		err = help.fault()
	}
	if err == nil {
		return statusDone
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	told := map[string]bool{} // a full disk says so of the file, and again when it is closed
	for _, line := range causes(there(brief(err))) {
		if !told[line] {
			fmt.Fprintf(std.err, "sndpak: %s\n", line)
		}
		told[line] = true
	}
	return status(err)
}

// A keptWriter keeps the first error of what is written without a look at it.
type keptWriter struct {
	w   io.Writer
	mu  sync.Mutex // guards err
	err error
}

func (k *keptWriter) Write(b []byte) (int, error) {
	n, err := k.w.Write(b)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
	return n, err
}

// fault is that error.
func (k *keptWriter) fault() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// keepHelp has help texts go to w: cobra takes a text that could not be written for one that was.
func keepHelp(root *cobra.Command, w *keptWriter) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.SetOut(w)
		help(cmd, args)
	})
}

func newRoot(std streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "sndpak",
		Short: "Pack the sounds of a game, look into the pack, and play from it",
		Long: `sndpak keeps the sounds of a game in one pack: a data file and a small index of
names (music.data and music.inx). It makes packs, looks into them, checks them and
plays any entry at once: WAV, FLAC, OGG Vorbis and MP3, found by their content. Where a
command takes entries, a pattern in quotes, such as 'sfx/*.wav', stands for those that match.`,
		Example: `  sndpak create music.data sounds/      pack a folder
  sndpak list music.data                what is in it
  sndpak play music.data jaguar.wav     hear one
  sndpak console music.data             play it by keys`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,

		PersistentPreRunE: readNames,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetFlagErrorFunc(flagFault)
	root.AddCommand(
		newCreate(), newAdd(), newRemove(), newCompact(), newList(), newInfo(), newExtract(),
		newDecode(), newVerify(), newConvert(), newLint(), newDiff(), newPlot(), newPlay(), newRender(), newStress(), newConsole(),
		newServe(), newDoctor(), newCompletion(), newBash(), newMan(), newVersion(), newLibrary(),
	)
	addCompletion(root)
	for _, c := range root.Commands() {
		c.Args = usageArgs(c.Args)
	}
	root.Args = usageArgs(root.Args)
	return root
}

// interruptible does what changes nothing until it is done or ctx ends. The work may then be stuck in a
// write to a pipe that nobody reads, which nothing but the end of the process ends.
func interruptible(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return cmp.Or(err, ctx.Err())
	case <-time.After(time.Second):
		return ctx.Err()
	}
}
