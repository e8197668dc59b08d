package page

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
)

//go:embed assets
var assets embed.FS

var assetKinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// assetNames are the files of the page.
func assetNames() (names []string) {
	list, err := fs.ReadDir(assets, "assets")
	if err != nil {
		panic(err) // they are built in
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// serveAsset serves one of them, to anybody who passed guard: there is nothing secret in it.
func serveAsset(name string) http.HandlerFunc {
	data, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	return func(w http.ResponseWriter, r *http.Request) { sendData(w, assetKinds[path.Ext(name)], data) }
}
