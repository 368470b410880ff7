package headers

import (
	"net/http"
	"slices"
)

// AddWarnings adds the warnings of a service to the headers of a response, each once. The texts are quoted strings
// (RFC 7234, section 5.5: 299 is a persistent warning).
func AddWarnings(h http.Header, texts []string) {
	for i, text := range texts {
		if !slices.Contains(texts[:i], text) {
			h.Add("Warning", "299 - "+text)
		}
	}
}
