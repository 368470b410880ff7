package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// enough is the percentage of a licence file that known texts must cover. pkg.go.dev uses the same
// value.
const enough = 75

var (
	errUnknown = errors.New("no known licence")
	errNoFile  = errors.New("no licence file")

	fileNames = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([.-].*)?$`)
)

// detect returns the SPDX identifiers of the licences in a licence file, sorted. It returns
// errUnknown if known texts cover too little of the file, which may then contain unreviewed terms.
func detect(text []byte) ([]string, error) {
	coverage := licensecheck.Scan(text)
	var ids []string
	for _, match := range coverage.Match {
		if !match.IsURL {
			ids = append(ids, match.ID)
		}
	}
	if len(ids) == 0 || coverage.Percent < enough {
		return nil, fmt.Errorf("%w: known texts %v cover %.0f%% of it", errUnknown, ids, coverage.Percent)
	}
	return sortedSet(ids), nil
}

// detectFile is detect for a file.
func detectFile(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ids, err := detect(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ids, nil
}

// moduleLicences returns the SPDX identifiers of the licences of the used packages of a module. It
// reads the licence files in root, and in the folders between root and each package, because a
// folder can contain third-party code. It returns errNoFile if root has no licence file.
func moduleLicences(root string, dirs []string) ([]string, error) {
	folders := []string{root}
	for _, dir := range dirs {
		for ; strings.HasPrefix(dir, root+string(filepath.Separator)); dir = filepath.Dir(dir) {
			folders = append(folders, dir)
		}
	}
	var ids []string
	for _, folder := range sortedSet(folders) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		found := false
		for _, entry := range entries {
			if entry.IsDir() || !fileNames.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
				continue
			}
			more, err := detectFile(filepath.Join(folder, entry.Name()))
			if err != nil {
				return nil, err
			}
			ids, found = append(ids, more...), true
		}
		if folder == root && !found {
			return nil, fmt.Errorf("%s: %w", root, errNoFile)
		}
	}
	return sortedSet(ids), nil
}

func sortedSet(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}
