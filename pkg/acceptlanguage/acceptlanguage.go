// Package acceptlanguage chooses texts by the Accept-Language of a request
// (RFC 9110, section 12.5.4).
package acceptlanguage

import (
	"context"

	"golang.org/x/text/language"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// header is the metadata that carries the header from the edge.
const header = "accept-language"

// maxPreferences bounds how many languages of a request are looked at.
const maxPreferences = 20

// Preferences are the languages that a caller reads, the best first.
type Preferences []language.Tag

// From returns the preferences of the request that the context is of. A header
// that cannot be read counts as none.
func From(ctx context.Context) Preferences {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, text := range md.Get(header) {
		tags, _, err := language.ParseAcceptLanguage(text)
		if err == nil && len(tags) > 0 {
			return tags[:min(len(tags), maxPreferences)]
		}
	}
	return nil
}

// Parse returns the canonical form of a BCP 47 tag, and whether it is one.
func Parse(text string) (string, bool) {
	tag, err := language.Parse(text)
	if err != nil || tag == language.Und {
		return "", false
	}
	return tag.String(), true
}

// Choose returns which of the available languages, as tags, serves the caller
// best, and -1 when none does: then the text without a language is shown.
func (p Preferences) Choose(available []string) int {
	if len(p) == 0 {
		return -1
	}
	tags := make([]language.Tag, len(available))
	for i, text := range available {
		tags[i] = language.Make(text)
	}
	_, index, confidence := language.NewMatcher(tags).Match(p...)
	// Below that, the caller reads another language and would have to guess.
	if confidence < language.High {
		return -1
	}
	return index
}

// SetContentLanguage sets the headers that say that the response depends on
// Accept-Language, and in which language its texts are, unless that is "".
func SetContentLanguage(ctx context.Context, tag string) error {
	return rpc.SetContentLanguage(ctx, tag)
}
