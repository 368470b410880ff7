// Package username says which user names are the same: the one place where they are
// folded.
package username

import (
	"errors"

	"golang.org/x/text/cases"
	"golang.org/x/text/secure/precis"
)

// maxRounds bounds how often a name is folded until nothing changes any more. Two
// rounds are enough for nearly all names.
const maxRounds = 5

var errUnstable = errors.New("username: the name has no settled form")

// Key returns what names that are the same have in common: case, width, and spaces
// around and between words make no difference (the profile Nickname of RFC 8266, with
// full case folding). A name that nobody can have, because it is empty or holds
// control characters, is an error. The key of a key is itself.
func Key(name string) (string, error) {
	for range maxRounds {
		key, err := precis.Nickname.CompareKey(name)
		if err != nil {
			return "", err
		}
		if key = cases.Fold().String(key); key == name {
			return key, nil
		}
		name = key
	}
	return "", errUnstable
}

// KeyOf is Key for looking somebody up: a name that nobody can have has a key that
// nobody has.
func KeyOf(name string) string {
	key, err := Key(name)
	if err != nil {
		return ""
	}
	return key
}
