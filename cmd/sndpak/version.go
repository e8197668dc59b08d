package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show which build this is",
		Example: "  sndpak version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := "devel"
			if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
				v = b.Main.Version
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "sndpak %s %s %s/%s\n", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
