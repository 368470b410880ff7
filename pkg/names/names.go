// Package names decides which names are the same, and which only look alike. It covers the numbers
// of persons, users, access profiles, and all other things that people look up by name.
package names

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Clean returns a name in its stored form: in normal form C, without surrounding white space and
// invisible characters, and unchanged otherwise.
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
	// Removing a character may let its neighbours compose.
	return norm.NFC.String(strings.TrimFunc(out.String(), blank))
}

// Key returns the same text for all names that count as the same: it ignores case, width, inner
// white space and invisible characters. The key of a key is the key itself.
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

// plain reports whether Clean would not change a name, by a look at its bytes.
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

// brailleBlank is a Braille symbol without dots.
const brailleBlank = '\u2800'

func blank(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Z, r) || r == brailleBlank }

const (
	nonJoiner = '\u200C'
	joiner    = '\u200D'
)

// invisible reports whether a character is invisible: controls of direction and joining, byte order
// marks, soft hyphens, variation selectors, fillers.
func invisible(r rune) bool {
	switch r {
	case '\u034F', '\u115F', '\u1160', '\u17B4', '\u17B5', '\u3164', '\uFFA0':
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) || unicode.Is(unicode.Variation_Selector, r)
}

// joins reports whether a character controls the joining of letters in a script that needs it, such
// as in Persian and Hindi, or joins the parts of a symbol.
func joins(previous, r rune) bool {
	if r != joiner && r != nonJoiner {
		return unicode.Is(unicode.Variation_Selector, r) && unicode.In(previous, unicode.So, unicode.Han, unicode.Mongolian)
	}
	return previous != 0 && !unicode.In(previous, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Hebrew) &&
		unicode.In(previous, unicode.L, unicode.M, unicode.So)
}
