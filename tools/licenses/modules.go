package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// module is a third-party Go module, with its packages that are used.
type module struct {
	path, version, root string
	dirs                []string
}

// listModules returns the modules that the packages named by patterns need, in the workspace of the
// repository in root, sorted by path. With tests, it includes the modules that their tests need.
//
// The platform is fixed, so that every machine creates the same list.
func listModules(root string, patterns []string, tests bool) ([]module, error) {
	args := []string{"list", "-deps", "-json=Dir,Module"}
	if tests {
		args = append(args, "-test")
	}
	list := exec.Command("go", append(append(args, "--"), patterns...)...)
	list.Dir = root
	list.Env = append(os.Environ(), "GOWORK="+filepath.Join(root, "go.work"), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return parseModules(out)
}

// parseModules parses the output of go list -json.
func parseModules(out []byte) ([]module, error) {
	modules := map[string]module{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if listed.Module == nil || listed.Module.Main {
			continue
		}
		m := modules[listed.Module.Path]
		m.path, m.version, m.root = listed.Module.Path, listed.Module.Version, listed.Module.Dir
		m.dirs = append(m.dirs, listed.Dir)
		modules[m.path] = m
	}
	return slices.SortedFunc(maps.Values(modules), func(a, b module) int { return cmp.Compare(a.path, b.path) }), nil
}
