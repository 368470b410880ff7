// Package username defines which user names are equal. All folding of user names happens here.
package username

import (
	"errors"

	"golang.org/x/text/cases"
	"golang.org/x/text/secure/precis"
)

// maxRounds is the number of folding rounds until a name must be stable. Two rounds suffice for nearly all
// names.
const maxRounds = 5

var errUnstable = errors.New("username: folding the name does not reach a stable form")

// Key returns the key that equal names share: case, width, and spaces around and between words make no
// difference (profile Nickname of RFC 8266, with full case folding). It returns an error for invalid names,
// which are empty or contain control characters. The key of a key is the key itself.
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

// LookupKey returns the Key for finding a user, or "" for an invalid name, which no user has.
func LookupKey(name string) string {
	key, err := Key(name)
	if err != nil {
		return ""
	}
	return key
}
