package contract

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// errorHelp is the beginning of the address that explains an error code.
const errorHelp = "/docs/errors#"

// anyError has the properties that the forms of errors use for the request id, the code and its explanation: objects,
// items, and errors of OAuth.
type anyError struct {
	ErrorCode   string `json:"errorCode"`
	MessageCode string `json:"message_code"`
	Help        string `json:"help"`
	ErrorURI    string `json:"error_uri"`
	RequestID   string `json:"requestId"`
	ItemID      string `json:"request_id"`
	// ErrorCount is the number of refused earnings of an import, whose response has its own form.
	ErrorCount int `json:"error_count"`
	Details    struct {
		Violations json.RawMessage `json:"violations"`
	} `json:"details"`
}

// checkError checks what every error has: the id of the request, and the address of the page of its code. Cases need
// not expect them. The failure of an import has its own form, with only the header. A stored error that is repeated has
// the id of the request that was carried out.
func checkError(response *http.Response, body []byte) error {
	if response.StatusCode < http.StatusBadRequest && response.StatusCode != http.StatusMultiStatus || len(body) == 0 {
		return nil
	}
	var all []anyError
	var one anyError
	if json.Unmarshal(body, &all) != nil {
		if err := json.Unmarshal(body, &one); err != nil {
			return fmt.Errorf("the error is not JSON: %w: %s", err, cut(body))
		}
		all = []anyError{one}
	}
	if len(all) == 0 {
		return fmt.Errorf("the error has no items")
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), linesType) {
		all = all[len(all)-1:] // The lines before have the results.
	}
	for _, e := range all {
		if e.ErrorCount > 0 {
			continue
		}
		if id := cmp.Or(e.RequestID, e.ItemID); id == "" || id != response.Header.Get("X-Request-Id") && response.Header.Get("Idempotent-Replayed") == "" {
			return fmt.Errorf("the request id of the error is %q, but must be the %q of the header: %s", id, response.Header.Get("X-Request-Id"), cut(body))
		}
		code := cmp.Or(e.ErrorCode, e.MessageCode)
		help := cmp.Or(e.Help, e.ErrorURI)
		if named, ok := strings.CutPrefix(help, errorHelp); !ok || named == "" || code != "" && named != code {
			return fmt.Errorf("the error names %q as the page of its code %q: %s", help, code, cut(body))
		}
		if violations := e.Details.Violations; violations != nil {
			if err := checkViolations(e, violations); err != nil {
				return fmt.Errorf("%w: %s", err, cut(body))
			}
		}
	}
	return nil
}

// checkViolations checks that the first fault of a list is the error itself.
func checkViolations(e anyError, list json.RawMessage) error {
	var violations []anyError
	if err := json.Unmarshal(list, &violations); err != nil {
		return fmt.Errorf("details.violations is not a list: %w", err)
	}
	if len(violations) == 0 || violations[0].ErrorCode != e.ErrorCode {
		return fmt.Errorf("details.violations does not begin with the error itself")
	}
	return nil
}
