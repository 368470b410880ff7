// Package names says which names are the same, and which only look like others: of persons
// (by number), users, access profiles, and whatever else people name and find by its name.
package names

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Clean returns a name as it is stored and looked for: in the normal form C, without
// white space around it and without characters that nobody sees. All else stays as it was
// sent.
func Clean(name string) string {
	if plain(name) {
		return name
	}
	name = norm.NFC.String(strings.ToValidUTF8(name, "\uFFFD"))
	var out strings.Builder
	previous := rune(0)
	for _, r := range name {
		if invisible(r) && !joins(previous, r) {
			continue
		}
		out.WriteRune(r)
		previous = r
	}
	// What was between two letters may have kept them from being one.
	return norm.NFC.String(strings.TrimFunc(out.String(), blank))
}

// Key returns what names that are the same have in common: case, width, white space within,
// and characters that nobody sees make no difference. The key of a key is itself.
func Key(name string) string {
	var out strings.Builder
	for word := range strings.FieldsFuncSeq(norm.NFKC.String(Clean(name)), blank) {
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		for _, r := range word {
			if !invisible(r) {
				out.WriteRune(unicode.ToLower(r))
			}
		}
	}
	return norm.NFC.String(out.String())
}

// plain reports whether a name is as Clean returns it, by a look at its bytes.
func plain(name string) bool {
	if name == "" {
		return true
	}
	for i := range len(name) {
		if name[i] >= 0x80 {
			return false
		}
	}
	return !blank(rune(name[0])) && !blank(rune(name[len(name)-1]))
}

// brailleBlank is a symbol without dots.
const brailleBlank = '\u2800'

func blank(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Z, r) || r == brailleBlank }

const (
	nonJoiner = '\u200C'
	joiner    = '\u200D'
)

// invisible reports whether nothing is seen of a character: controls of direction and of
// joining, marks of byte order, soft hyphens, selectors of variants, fillers.
func invisible(r rune) bool {
	switch r {
	case '\u034F', '\u115F', '\u1160', '\u17B4', '\u17B5', '\u3164', '\uFFA0':
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) || unicode.Is(unicode.Variation_Selector, r)
}

// joins reports whether a character controls how letters of a script are joined that needs
// that, as in Persian and Hindi, or the parts of a symbol.
func joins(previous, r rune) bool {
	if r != joiner && r != nonJoiner {
		return unicode.Is(unicode.Variation_Selector, r) && unicode.In(previous, unicode.So, unicode.Han, unicode.Mongolian)
	}
	return previous != 0 && !unicode.In(previous, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Hebrew) &&
		unicode.In(previous, unicode.L, unicode.M, unicode.So)
}
