package headers

import (
	"net/url"
	"strings"
)

// pageParameters are the query parameters that name a page.
var pageParameters = []string{"before", "after", "page"}

// PageLinks returns the Link (RFC 8288) for the pages that a service reported, each a relation and its query
// parameter. The other parameters of the query stay.
func PageLinks(address string, query url.Values, reported []string) string {
	for _, name := range pageParameters {
		query.Del(name)
	}
	var links []string
	for _, value := range reported {
		rel, text, _ := strings.Cut(value, " ")
		page, err := url.ParseQuery(text)
		if err != nil {
			continue // Another version of the service reported it.
		}
		for name, values := range query {
			page[name] = values
		}
		target := address
		if len(page) > 0 {
			target += "?" + page.Encode()
		}
		links = append(links, "<"+target+`>; rel="`+rel+`"`)
	}
	return strings.Join(links, ", ")
}
