package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// embedded is a row of the licence table, for third-party files in this repository that are built
// into a binary.
type embedded struct {
	name, folder string
	licences     []string
}

// embeddedFiles returns the third-party files in the binaries, other than Go modules.
func embeddedFiles(root string) ([]embedded, error) {
	const ui, password, zones = "gateway/apidocs/swagger-ui", "services/auth/internal/password", "pkg/tzdb"
	bundle, err := os.ReadFile(filepath.Join(root, ui, "swagger-ui-bundle.js"))
	if err != nil {
		return nil, err
	}
	version := regexp.MustCompile(`PACKAGE_VERSION:"([^"]+)"`).FindSubmatch(bundle)
	if version == nil {
		return nil, fmt.Errorf("%s: the bundle names no version", ui)
	}
	uiLicences, err := detectFile(filepath.Join(root, ui, "LICENSE"))
	if err != nil {
		return nil, err
	}
	passwordLicences, err := detectFile(filepath.Join(root, password, "common.LICENSE"))
	if err != nil {
		return nil, err
	}
	release, err := os.ReadFile(filepath.Join(root, zones, "VERSION"))
	if err != nil {
		return nil, err
	}
	return []embedded{
		{"swagger-ui-dist " + string(version[1]) + " (npm)", ui, uiLicences},
		// The list has no version number: update this line when you replace the list.
		{"list of passwords of zxcvbn 4.4.2 (npm)", password, passwordLicences},
		// The LICENSE of IANA's release states that. SPDX has no identifier for it.
		{"IANA time zone database " + strings.TrimSpace(string(release)), zones, []string{"public domain"}},
	}, nil
}

// notice is a bundle's notice about one of its libraries.
type notice struct {
	heading  string
	licences []string
}

var (
	comments = regexp.MustCompile(`(?s)/\*[*!](.*?)\*/`)
	lineHead = regexp.MustCompile(`^[\s*]*(@(license|description|author)\b)?\s*`)
	onlyName = regexp.MustCompile(`^((The )?MIT( License)?( \(MIT\))?)?$`)
	// A bundler replaces the library's licence file by a sentence.
	sentences = []struct {
		id      string
		pattern *regexp.Regexp
	}{
		{"Apache-2.0", regexp.MustCompile(`(?i)\bApache[- ](license,? )?(version )?2\.0\b`)},
		{"BSD-3-Clause", regexp.MustCompile(`\bBSD-3-Clause\b`)},
		{"ISC", regexp.MustCompile(`\bISC\b`)},
		{"MIT", regexp.MustCompile(`(?i)\bMIT license|@license\s+MIT\b|license \(MIT\)`)},
		{"MPL-2.0", regexp.MustCompile(`(?i)\b(Mozilla Public License|MPL)[ -](version )?2\.0\b`)},
	}
)

// notices returns the distinct notices about libraries in the comments of a file, such as the
// .LICENSE.txt next to a bundle. It returns errUnknown if a notice names no licence.
func notices(text string) ([]notice, error) {
	var found []notice
	seen := map[string]bool{}
	for _, comment := range comments.FindAllStringSubmatch(text, -1) {
		n := notice{heading: noticeHeading(comment[1])}
		if n.heading == "" {
			return nil, fmt.Errorf("a notice names no library: %q", comment[1])
		}
		for _, sentence := range sentences {
			if sentence.pattern.MatchString(comment[1]) {
				n.licences = append(n.licences, sentence.id)
			}
		}
		if len(n.licences) == 0 {
			return nil, fmt.Errorf("%w in the notice %q", errUnknown, n.heading)
		}
		if key := fmt.Sprint(n); !seen[key] {
			seen[key] = true
			found = append(found, n)
		}
	}
	return found, nil
}

// noticeHeading returns the first line of a comment that is more than the name of a licence, or "".
func noticeHeading(comment string) string {
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(lineHead.ReplaceAllString(line, ""))
		if !onlyName.MatchString(line) {
			return strings.TrimSpace(strings.Split(line, " | ")[0])
		}
	}
	return ""
}
