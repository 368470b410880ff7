package document

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const compound = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// archive returns a ZIP archive with files of these names.
func archive(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range names {
		_, err := w.Create(name)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestTheContentDeterminesTheType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content []byte
		// extension is the one of the type, or "" for a refused content.
		extension string
	}{
		"a jpg":                      {[]byte("\xff\xd8\xff\xe0 JFIF"), ".jpg"},
		"a png":                      {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), ".png"},
		"a pdf":                      {[]byte("%PDF-1.7\n%%EOF\n"), ".pdf"},
		"a doc":                      {[]byte(compound + "..W\x00o\x00r\x00d\x00D\x00o\x00c\x00u\x00m\x00e\x00n\x00t\x00"), ".doc"},
		"a docx":                     {archive(t, "[Content_Types].xml", "word/document.xml"), ".docx"},
		"nothing":                    {nil, ""},
		"html":                       {[]byte("<html><script>alert(1)</script></html>"), ""},
		"html before a pdf":          {[]byte("<html>%PDF-1.7\n%%EOF\n"), ""},
		"html that claims a pdf":     {[]byte("%PDF-1.7<html></html>"), ""},
		"svg":                        {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), ""},
		"a program":                  {[]byte("MZ\x90\x00"), ""},
		"a gif":                      {[]byte("GIF89a"), ""},
		"another compound file":      {[]byte(compound + "W\x00o\x00r\x00k\x00b\x00o\x00o\x00k\x00"), ""},
		"an archive":                 {archive(t, "a.html"), ""},
		"a sheet":                    {archive(t, "[Content_Types].xml", "xl/workbook.xml"), ""},
		"a document with macros":     {archive(t, "[Content_Types].xml", "word/document.xml", "word/vbaProject.bin"), ""},
		"a cut archive":              {archive(t, "[Content_Types].xml", "word/document.xml")[:60], ""},
		"an archive behind a script": {append([]byte("#!/bin/sh\n"), archive(t, "[Content_Types].xml", "word/document.xml")...), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			detected, ok := detect(c.content)
			require.Equal(t, c.extension != "", ok)
			if ok {
				assert.Equal(t, c.extension, detected.extensions[0])
			}
		})
	}
}

func TestNamesHaveTheExtensionOfTheType(t *testing.T) {
	t.Parallel()
	jpg := fileTypes[0]
	for name, want := range map[string]string{
		"a.jpg": "a.jpg", "a.JPEG": "a.JPEG", "a": "a.jpg", "a.html": "a.html.jpg", "a.jpg.exe": "a.jpg.exe.jpg",
		strings.Repeat("é", 127): strings.Repeat("é", 125) + ".jpg",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, jpg.completeName(name))
		})
	}
}
