// Command sbom writes the bill of materials of a Go program as CycloneDX, from the build
// information in the program. The same program gives the same text.
package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path/filepath"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write writes the bill of materials of a program.
func write(out io.Writer, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	encoder := cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	return encoder.Encode(materials(filepath.Base(program), info))
}

// materials lists the modules of a program, and the toolchain with its standard library. It has
// neither a time nor a serial number, because both would differ between two builds of the same
// source.
func materials(name string, info *buildinfo.BuildInfo) *cdx.BOM {
	components := []cdx.Component{library("stdlib", info.GoVersion)}
	for _, dep := range info.Deps {
		if dep.Version == "(devel)" {
			continue // A module of this workspace is part of the program.
		}
		components = append(components, library(dep.Path, dep.Version))
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: name, Type: cdx.ComponentTypeApplication, Name: name, Version: revision(info),
	}}
	bom.Components = &components
	return bom
}

func library(path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
}

// revision returns the commit that a program was built from.
func revision(info *buildinfo.BuildInfo) string {
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return info.Main.Version
}
