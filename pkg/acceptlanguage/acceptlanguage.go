// Package acceptlanguage chooses texts by the Accept-Language of a request
// (RFC 9110, section 12.5.4).
package acceptlanguage

import (
	"context"

	"golang.org/x/text/language"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// header is the metadata key of the header from the edge.
const header = "accept-language"

// maxPreferences bounds the considered languages of a request.
const maxPreferences = 20

// Preferences are the languages that a caller reads, in order of preference.
type Preferences []language.Tag

// From returns the preferences of the request in a context. It ignores a malformed header.
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

// Parse returns the canonical form of a BCP 47 tag, and whether the text is one.
func Parse(text string) (string, bool) {
	tag, err := language.Parse(text)
	if err != nil || tag == language.Und {
		return "", false
	}
	return tag.String(), true
}

// Choose returns the index of the available language, given as tags, that fits the caller best, or
// -1 if none does: then the text without a language is shown.
func (p Preferences) Choose(available []string) int {
	if len(p) == 0 {
		return -1
	}
	tags := make([]language.Tag, len(available))
	for i, text := range available {
		tags[i] = language.Make(text)
	}
	_, index, confidence := language.NewMatcher(tags).Match(p...)
	// With less confidence, the caller reads another language and would have to guess.
	if confidence < language.High {
		return -1
	}
	return index
}

// SetContentLanguage marks the response as dependent on Accept-Language, and sets the language of
// its texts unless tag is "".
func SetContentLanguage(ctx context.Context, tag string) error {
	return rpc.SetContentLanguage(ctx, tag)
}
