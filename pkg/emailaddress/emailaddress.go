// Package emailaddress decides which texts are e-mail addresses that can be stored and mailed to.
package emailaddress

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lengths of RFC 5321, in bytes.
const (
	maxAddress = 254
	maxLocal   = 64
	maxDomain  = 253
	maxLabel   = 63
)

// Valid reports whether a text is only an e-mail address: a local part without quotes and a domain
// name, without a display name, a comment, spaces, line breaks or other invisible characters.
func Valid(text string) bool {
	local, domain, found := strings.Cut(text, "@")
	if !found || len(text) > maxAddress || len(local) > maxLocal || !utf8.ValidString(text) {
		return false
	}
	if strings.ContainsFunc(text, isHidden) {
		return false
	}
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Name == "" && parsed.Address == text && isDomain(domain)
}

// isHidden reports whether a character is invisible, or changes the display of others.
func isHidden(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// isDomain reports whether a text is a domain name: labels of letters, digits and hyphens, in any
// script.
func isDomain(text string) bool {
	if text == "" || len(text) > maxDomain {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > maxLabel || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			return false
		}
	}
	return true
}
