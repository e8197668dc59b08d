package main

import (
	"github.com/spf13/cobra"
)

var wavBits = map[string]int{"16": 16, "24": 24, "32f": 32}

func decodeTo(cmd *cobra.Command, s openSound, out string, bits int) error { return nil }
