package names

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// together lists the scripts that may occur together in one word, for Unicode's level "highly
// restrictive" (UTS 39).
var together = []map[string]bool{
	{"Latin": true, "Han": true, "Hiragana": true, "Katakana": true},
	{"Latin": true, "Han": true, "Bopomofo": true},
	{"Latin": true, "Han": true, "Hangul": true},
}

// Mixed returns the first word of a name with letters of scripts that no language combines, and
// these scripts; ok is false if no word has them. It checks each word separately, because names in
// two languages are common.
func Mixed(name string) (word string, scripts []string, ok bool) {
	if ascii(name) {
		return "", nil, false
	}
	for word := range strings.FieldsFuncSeq(norm.NFC.String(name), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Cf) }) {
		if scripts := wordScripts(word); len(scripts) > 1 && !areTogether(scripts) {
			return word, scripts, true
		}
	}
	return "", nil, false
}

// Describe completes "... has ", for an error about a word from Mixed.
func Describe(word string, scripts []string) string {
	return fmt.Sprintf("the word %.60q with letters of different scripts (%s)", word, strings.Join(scripts, ", "))
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

func areTogether(scripts []string) bool {
	for _, set := range together {
		all := true
		for _, s := range scripts {
			all = all && set[s]
		}
		if all {
			return true
		}
	}
	return false
}

// wordScripts returns the scripts of the letters of a word, in order. Digits and marks belong to
// all scripts.
func wordScripts(word string) []string {
	var found []string
letters:
	for _, r := range word {
		if !unicode.IsLetter(r) {
			continue
		}
		for _, known := range found {
			if unicode.Is(unicode.Scripts[known], r) {
				continue letters
			}
		}
		if s := letterScript(r); s != "" {
			found = append(found, s)
		}
	}
	return found
}

func letterScript(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return name
		}
	}
	return ""
}
