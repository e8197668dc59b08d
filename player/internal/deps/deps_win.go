//go:build windows || darwin

package deps

import _ "github.com/ebitengine/oto/v3"
