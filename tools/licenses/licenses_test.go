package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const isc = `Copyright (c) 2020 Somebody

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.
`

const mit = `MIT License

Copyright (c) 2020 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

const own = "All rights reserved. You may look at this software on Sundays, and only with the written consent of its maker. "

func TestDetect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one licence":                        {isc, []string{"ISC"}},
		"two licences, one of them twice":    {mit + isc + mit, []string{"ISC", "MIT"}},
		"terms of its own":                   {own, nil},
		"a known licence among more of own":  {isc + own + own + own + own + own + own + own, nil},
		"the address of a licence, no terms": {"https://www.apache.org/licenses/LICENSE-2.0", nil},
		"nothing":                            {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids, err := detect([]byte(c.text))
			if c.want == nil {
				require.ErrorIs(t, err, errUnknown)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, ids)
		})
	}
}

func TestLicencesOfAModule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		used  string
		want  []string
		err   error
	}{
		"its file":                     {map[string]string{"LICENSE": mit}, ".", []string{"MIT"}, nil},
		"British, with an ending":      {map[string]string{"Licence.md": mit}, ".", []string{"MIT"}, nil},
		"COPYING":                      {map[string]string{"COPYING": isc}, ".", []string{"ISC"}, nil},
		"two files":                    {map[string]string{"LICENSE-MIT": mit, "LICENSE-ISC": isc}, ".", []string{"ISC", "MIT"}, nil},
		"a folder on the way":          {map[string]string{"LICENSE": mit, "a/LICENSE": isc}, "a/b", []string{"ISC", "MIT"}, nil},
		"a folder that is not used":    {map[string]string{"LICENSE": mit, "c/LICENSE": isc}, "a/b", []string{"MIT"}, nil},
		"no file":                      {map[string]string{"README.md": mit}, ".", nil, errNoFile},
		"a source that is named so":    {map[string]string{"license.go": mit}, ".", nil, errNoFile},
		"a file in a folder only":      {map[string]string{"a/LICENSE": mit}, "a", nil, errNoFile},
		"terms of its own":             {map[string]string{"LICENSE": own}, ".", nil, errUnknown},
		"terms of its own in a folder": {map[string]string{"LICENSE": mit, "a/LICENSE": own}, "a", nil, errUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			used := filepath.Join(root, c.used)
			require.NoError(t, os.MkdirAll(used, 0o755))
			for file, text := range c.files {
				path := filepath.Join(root, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			ids, err := moduleLicences(root, []string{used})
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, ids)
		})
	}
}

func TestParseModules(t *testing.T) {
	t.Parallel()
	modules, err := parseModules([]byte(`{"Dir": "/go/src/fmt"}
{"Dir": "/mod/b/x", "Module": {"Path": "b", "Version": "v2.0.0", "Dir": "/mod/b"}}
{"Dir": "/mod/a", "Module": {"Path": "a", "Version": "v1.0.0", "Dir": "/mod/a"}}
{"Dir": "/mod/b/y", "Module": {"Path": "b", "Version": "v2.0.0", "Dir": "/mod/b"}}
{"Dir": "/work/own", "Module": {"Path": "own", "Main": true, "Dir": "/work"}}`))
	require.NoError(t, err)
	require.Equal(t, []module{
		{"a", "v1.0.0", "/mod/a", []string{"/mod/a"}},
		{"b", "v2.0.0", "/mod/b", []string{"/mod/b/x", "/mod/b/y"}},
	}, modules)
}

func TestNotices(t *testing.T) {
	t.Parallel()
	found, err := notices(`/*! one.js 1.0 | MIT License | example.com/one */
code()
/**
 * @license
 * MIT License
 *
 * Copyright (c) 2020 Two
 */
/*! three. BSD-3-Clause License. */
/*! three. BSD-3-Clause License. */
/*! @license four | Released under the Apache license 2.0 and Mozilla Public License 2.0 */
/* no notice */`)
	require.NoError(t, err)
	require.Equal(t, []notice{
		{"one.js 1.0", []string{"MIT"}},
		{"Copyright (c) 2020 Two", []string{"MIT"}},
		{"three. BSD-3-Clause License.", []string{"BSD-3-Clause"}},
		{"four", []string{"Apache-2.0", "MPL-2.0"}},
	}, found)

	_, err = notices("/*! five, submitted by its maker */")
	require.ErrorIs(t, err, errUnknown)
}
