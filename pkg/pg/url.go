package pg

import (
	"net/url"
	"strings"
)

// Query parses the settings of a connection URL as pgx does: a plus sign is a plus sign, not a
// space as in forms.
func Query(u *url.URL) (url.Values, error) {
	return url.ParseQuery(strings.ReplaceAll(u.RawQuery, "+", "%2B"))
}

// EncodeQuery encodes the settings of a connection URL for pgx; see [Query]. A path with a space is
// such a setting.
func EncodeQuery(settings url.Values) string {
	return strings.ReplaceAll(settings.Encode(), "+", "%20")
}
