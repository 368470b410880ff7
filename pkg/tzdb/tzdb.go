// Package tzdb is the embedded time zone database of every program.
//
// Package time looks for time zones in a variable, then in folders of the machine, and only then in
// the program. So two machines could derive different instants from one wall-clock time. Therefore
// no code calls time.LoadLocation: [Load] reads only the copy in this package. docs/time-zones.md
// describes how to update the copy.
package tzdb

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
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

// ErrUnknown means that the database has no zone of that name.
var ErrUnknown = errors.New("unknown time zone")

// maxZone bounds the data of one zone, in bytes. The largest has about 3,000.
const maxZone = 64 << 10

// Version returns the release of the IANA time zone database, such as 2026f.
func Version() string { return strings.TrimSpace(version) }

// Load returns the location with a name of the database, such as Europe/Zurich. Names are
// case-sensitive. The empty name and "Local", which package time reads as UTC and the machine's
// zone, are unknown here. Errors wrap [ErrUnknown].
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

// loaded caches the locations. The database is finite, so the cache is too.
var loaded sync.Map

// Names returns the names of all zones, in order.
func Names() []string { return slices.Sorted(maps.Keys(zones())) }

// Number returns the number of a zone, from 1 to 2^31-1. It is a hash of the name, so that it is the same in
// every release of the database. A test ensures that no two names share a number.
func Number(name string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // A hash never fails.
	return int64(h.Sum32() >> 1)
}

// FindNumber returns the name of the zone with a number, or false for another number.
func FindNumber(number int64) (name string, known bool) {
	name, known = numbers()[number]
	return name, known
}

var numbers = sync.OnceValue(func() map[int64]string {
	out := make(map[int64]string, len(zones()))
	for name := range zones() {
		out[Number(name)] = name
	}
	return out
})

// zones returns the files of the archive by name.
var zones = sync.OnceValue(func() map[string]*zip.File {
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		// The archive is embedded, and a test reads all of it.
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
