package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// formBoundary separates the parts of a form. No test file has it.
const formBoundary = "boundary-of-a-test-form"

// Form returns a multipart form with a file, and the content type of the form. Other fields precede the file. The
// name of the file is sent as it is, also with characters that browsers replace.
func Form(fields map[string]string, name string, file []byte) (contentType string, form []byte) {
	var b strings.Builder
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", formBoundary, field, fields[field])
	}
	fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\n%s\r\n--%s--\r\n", formBoundary, name, file, formBoundary)
	return "multipart/form-data; boundary=" + formBoundary, []byte(b.String())
}

// PDF is the content of a small PDF file.
const PDF = "%PDF-1.7\n%%EOF\n"
