package document

import (
	"archive/zip"
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// fileType is a type that documents may have.
type fileType struct {
	mediaType string
	// extensions are the extensions of names, in lower case. The first one is added to other names.
	extensions []string
	// matches reports whether a content has the type.
	matches func(content []byte) bool
}

// fileTypes are the types that documents may have.
var fileTypes = []fileType{
	{"image/jpeg", []string{".jpg", ".jpeg"}, begins("\xff\xd8\xff")},
	{"image/png", []string{".png"}, begins("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")},
	{"application/pdf", []string{".pdf"}, isPDF},
	{"application/msword", []string{".doc"}, isDOC},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", []string{".docx"}, isDOCX},
}

// detect returns the type of a content, or false if documents may not have it.
func detect(content []byte) (fileType, bool) {
	n := slices.IndexFunc(fileTypes, func(t fileType) bool { return t.matches(content) })
	if n < 0 {
		return fileType{}, false
	}
	return fileTypes[n], true
}

func begins(magic string) func([]byte) bool {
	return func(content []byte) bool { return bytes.HasPrefix(content, []byte(magic)) }
}

// pdfTail is the number of bytes at the end of a PDF that have its end mark.
const pdfTail = 1024

// isPDF reports whether a content begins and ends as a PDF does.
func isPDF(content []byte) bool {
	tail := content[max(0, len(content)-pdfTail):]
	return bytes.HasPrefix(content, []byte("%PDF-")) && bytes.Contains(tail, []byte("%%EOF"))
}

// isDOC reports whether a content is a compound file with the stream of a Word document. Other programs
// write compound files too.
func isDOC(content []byte) bool {
	const stream = "W\x00o\x00r\x00d\x00D\x00o\x00c\x00u\x00m\x00e\x00n\x00t\x00"
	return bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) && bytes.Contains(content, []byte(stream))
}

// isDOCX reports whether a content is a package of a Word document without macros. It reads the names in
// the archive only, so that no content is unpacked.
func isDOCX(content []byte) bool {
	if !bytes.HasPrefix(content, []byte("PK\x03\x04")) {
		return false
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return false
	}
	has := func(name string) bool {
		return slices.ContainsFunc(archive.File, func(f *zip.File) bool { return strings.EqualFold(f.Name, name) })
	}
	return has("[Content_Types].xml") && has("word/document.xml") && !has("word/vbaProject.bin")
}

// maxName is the largest number of bytes of a name.
const maxName = 255

// completeName returns the name of a file with an extension of its type, so that other programs do not open the
// file as something else.
func (t fileType) completeName(name string) string {
	if slices.Contains(t.extensions, strings.ToLower(path.Ext(name))) {
		return name
	}
	extension := t.extensions[0]
	for len(name) > maxName-len(extension) {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name + extension
}
