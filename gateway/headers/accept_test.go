package headers

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPrefersLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accept []string
		want   bool
	}{
		"no header":                             {nil, false},
		"an empty header":                       {[]string{""}, false},
		"every type":                            {[]string{"*/*"}, false},
		"every application type":                {[]string{"application/*"}, false},
		"JSON":                                  {[]string{"application/json"}, false},
		"a browser":                             {[]string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, false},
		"lines":                                 {[]string{"application/x-ndjson"}, true},
		"lines in other letters":                {[]string{" Application/X-NDJSON ; charset=utf-8"}, true},
		"lines with a low weight alone":         {[]string{"application/x-ndjson;q=0.1"}, true},
		"lines with a weight of 0":              {[]string{"application/x-ndjson;q=0"}, false},
		"lines with a malformed weight":         {[]string{"application/x-ndjson;q=high"}, false},
		"lines with a weight above 1":           {[]string{"application/x-ndjson;q=2"}, false},
		"both":                                  {[]string{"application/json, application/x-ndjson"}, false},
		"both in two headers":                   {[]string{"application/x-ndjson", "application/json"}, false},
		"lines before JSON":                     {[]string{"application/json;q=0.9, application/x-ndjson"}, true},
		"JSON before lines":                     {[]string{"application/json, application/x-ndjson;q=0.9"}, false},
		"lines and not JSON":                    {[]string{"application/x-ndjson, application/json;q=0"}, true},
		"lines and every type":                  {[]string{"application/x-ndjson, */*"}, true},
		"lines after every type":                {[]string{"application/x-ndjson;q=0.5, */*"}, false},
		"lines before every type":               {[]string{"application/x-ndjson;q=0.5, */*;q=0.1"}, true},
		"the closest range counts":              {[]string{"application/x-ndjson;q=0.5, */*;q=0.1, application/*;q=0.8"}, false},
		"JSON that is named, beside all others": {[]string{"application/json;q=0.1, */*, application/x-ndjson;q=0.5"}, true},
		"another name of lines":                 {[]string{"application/jsonl"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, PrefersLines(http.Header{"Accept": c.accept}), "%q", c.accept)
		})
	}
}
