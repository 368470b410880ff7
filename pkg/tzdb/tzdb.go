// Package tzdb is the time zone database that every program carries.
//
// Package time looks for time zones in a variable, in folders of the machine, and only
// then in what a program carries. Two machines would calculate different instants from
// one wall-clock time. So nothing here or elsewhere calls time.LoadLocation: [Load]
// reads the copy in this package and nothing else. docs/time-zones.md says how the copy
// is changed.
package tzdb

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed zoneinfo.zip
var archive []byte

//go:embed VERSION
var version string

// ErrUnknown says that the database has no zone of a name.
var ErrUnknown = errors.New("unknown time zone")

// maxZone bounds the data of one zone, in bytes. The longest has some 3,000.
const maxZone = 64 << 10

// Version is the release of the IANA time zone database, such as 2026f.
func Version() string { return strings.TrimSpace(version) }

// Load returns the location of a name of the database, such as Europe/Zurich. The case
// of letters counts. The empty name and "Local", which mean UTC and the machine's own
// zone to package time, are unknown here. Errors wrap [ErrUnknown].
func Load(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if location, known := loaded.Load(name); known {
		return location.(*time.Location), nil
	}
	file, known := zones()[name]
	if !known {
		return nil, fmt.Errorf("%w %q", ErrUnknown, name)
	}
	data, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", name, err)
	}
	location, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", name, err)
	}
	loaded.Store(name, location)
	return location, nil
}

// loaded holds the locations that were asked for. The database has an end, and so has
// this.
var loaded sync.Map

// Names returns the names of all zones, in order.
func Names() []string { return slices.Sorted(maps.Keys(zones())) }

// zones are the files of the archive by name.
var zones = sync.OnceValue(func() map[string]*zip.File {
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		// The archive is part of the program, and a test reads all of it.
		panic(fmt.Errorf("tzdb: %w", err))
	}
	files := make(map[string]*zip.File, len(reader.File))
	for _, file := range reader.File {
		files[file.Name] = file
	}
	return files
})

func read(file *zip.File) ([]byte, error) {
	content, err := file.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(content, maxZone))
	return data, errors.Join(err, content.Close())
}
