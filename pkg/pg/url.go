package pg

import (
	"net/url"
	"strings"
)

// Query reads the settings of a connection URL as pgx does, to which a plus sign is
// a plus sign: a form would have it for a space.
func Query(u *url.URL) (url.Values, error) {
	return url.ParseQuery(strings.ReplaceAll(u.RawQuery, "+", "%2B"))
}

// EncodeQuery writes the settings of a connection URL so that pgx reads them; see
// [Query]. A path with a space in it is such a setting.
func EncodeQuery(settings url.Values) string {
	return strings.ReplaceAll(settings.Encode(), "+", "%20")
}
