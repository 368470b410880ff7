// Command licenses writes docs/licenses.md: the licences of the modules that are linked into the
// product's binaries, and of those that only build and test it. It reads only the module cache and
// this repository, and fails for an unknown licence.
//
//	licenses -root <repository> -all <patterns> <patterns of the binaries>...
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const head = `# Licences

Made by ` + "`make licenses`" + ` from the licence files of the versions that are built; do not edit. It fails when it does not know a licence.
Licences are named by their [SPDX](https://spdx.org/licenses/) identifiers. Where there are several, the files of the module say how
they go together: a choice, or one for each part. Binaries are those of Linux on amd64; they also hold Go's standard library, which is BSD-3-Clause.

## Go modules in the binaries

`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "licenses: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("licenses", flag.ContinueOnError)
	rootFlag := flags.String("root", ".", "the repository")
	all := flags.String("all", "", "patterns of all packages, separated by spaces")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := filepath.Abs(*rootFlag)
	if err != nil {
		return err
	}
	page, err := licencePage(root, flags.Args(), strings.Fields(*all))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "licenses.md"), []byte(page), 0o644)
}

// licencePage returns the page for the packages of the binaries and for all packages.
func licencePage(root string, binaries, all []string) (string, error) {
	linked, err := listModules(root, binaries, false)
	if err != nil {
		return "", err
	}
	used, err := listModules(root, all, true)
	if err != nil {
		return "", err
	}
	used = slices.DeleteFunc(used, func(m module) bool {
		return slices.ContainsFunc(linked, func(l module) bool { return l.path == m.path })
	})
	page := &strings.Builder{}
	page.WriteString(head)
	if err := writeModules(page, linked); err != nil {
		return "", err
	}
	page.WriteString("\n## Files in the binaries\n\n")
	if err := writeFiles(page, root); err != nil {
		return "", err
	}
	page.WriteString("\n## Go modules that only build and test\n\n" +
		"In no binary. The tools in `tools/` have modules of their own and are not listed.\n\n")
	if err := writeModules(page, used); err != nil {
		return "", err
	}
	return page.String(), nil
}

// writeModules writes a table of modules and their licences.
func writeModules(page *strings.Builder, modules []module) error {
	page.WriteString("| module | version | licence |\n|---|---|---|\n")
	for _, m := range modules {
		ids, err := moduleLicences(m.root, m.dirs)
		if err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
		fmt.Fprintf(page, "| %s | %s | %s |\n", m.path, m.version, strings.Join(ids, ", "))
	}
	return nil
}

// writeFiles writes the third-party files in the binaries, and the libraries of the page at /docs.
func writeFiles(page *strings.Builder, root string) error {
	files, err := embeddedFiles(root)
	if err != nil {
		return err
	}
	page.WriteString("| files | folder | licence |\n|---|---|---|\n")
	for _, f := range files {
		fmt.Fprintf(page, "| %s | %s | %s |\n", f.name, f.folder, strings.Join(f.licences, ", "))
	}
	const ui = "gateway/apidocs/swagger-ui"
	page.WriteString("\n" + ui + " holds libraries. The notices in it, each by its first line:\n\n| notice | licence |\n|---|---|\n")
	for _, name := range []string{"swagger-ui-bundle.js.LICENSE.txt", "swagger-ui.css"} {
		text, err := os.ReadFile(filepath.Join(root, ui, name))
		if err != nil {
			return err
		}
		found, err := notices(string(text))
		if err != nil {
			return fmt.Errorf("%s/%s: %w", ui, name, err)
		}
		for _, n := range found {
			fmt.Fprintf(page, "| %s | %s |\n", strings.ReplaceAll(n.heading, "|", `\|`), strings.Join(n.licences, ", "))
		}
	}
	return nil
}
