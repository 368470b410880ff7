// Command packzones packs the output folder of zic into the archive of package tzdb. The same
// folder gives the same archive.
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

var versionLine = regexp.MustCompile(`^# version (\d{4}[a-z]+)\n`)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: packzones <tzdata.zi> <folder that zic wrote> <folder of package tzdb>")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "packzones:", err)
		os.Exit(1)
	}
}

func pack(source, compiled, into string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	version := versionLine.FindSubmatch(text)
	if version == nil {
		return fmt.Errorf("%s does not begin with a line \"# version\"", source)
	}
	archive, err := zipFolder(os.DirFS(compiled))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(into, "zoneinfo.zip"), archive, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(into, "VERSION"), append(version[1], '\n'), 0o644)
}

// zipFolder packs all files of a folder in the order of their names.
func zipFolder(folder fs.FS) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		file, err := archive.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = file.Write(data)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	return out.Bytes(), err
}
