package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Target is a running server.
type Target struct {
	// BaseURL has no trailing slash.
	BaseURL string
	Client  *http.Client
	// Token is the access token of a user with all permissions.
	Token string
	// Values are available in every case as ${name}.
	Values map[string]string
}

// interval is the time between two polls for asynchronous changes.
const interval = 20 * time.Millisecond

var counter atomic.Int64

// freshValues returns values that are unique to one run of a case.
func freshValues() map[string]string {
	return map[string]string{
		"unique": fmt.Sprintf("%x-%d", time.Now().UnixNano(), counter.Add(1)),
		// A UUID without its last twelve digits, which the case appends.
		"uuid": uuid.NewString()[:24],
	}
}

// Run runs a case and returns the first difference.
func Run(ctx context.Context, target Target, c Case) error {
	values := freshValues()
	for name, value := range target.Values {
		values[name] = value
	}
	for _, step := range c.Steps {
		if err := runStep(ctx, target, step, values); err != nil {
			return fmt.Errorf("%s: %w", step.It, err)
		}
	}
	return nil
}

func runStep(ctx context.Context, target Target, step Step, values map[string]string) error {
	deadline := time.Now().Add(step.Within)
	for {
		err := try(ctx, target, step, values)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", ctx.Err(), err)
		case <-time.After(interval):
		}
	}
}

func try(ctx context.Context, target Target, step Step, values map[string]string) error {
	request, err := newRequest(ctx, target, step, values)
	if err != nil {
		return err
	}
	response, err := target.Client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	// Store the values before check, which may change them.
	sent, _, err := encode(step, values)
	if err != nil {
		return err
	}
	lines := response.Header.Get("Content-Type") == linesType
	if lines {
		if body, err = listLines(body); err != nil {
			return err
		}
	}
	if err := check(step, response, body, values); err != nil {
		return err
	}
	return checkDescribed(step, sent, response.StatusCode, body, lines)
}

func newRequest(ctx context.Context, target Target, step Step, values map[string]string) (*http.Request, error) {
	method, path, _ := strings.Cut(step.Do, " ")
	body, contentType, err := encode(step, values)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, target.BaseURL+fill(path, values), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if !step.Anonymous {
		request.Header.Set("Authorization", "Bearer "+target.Token)
	}
	for name, value := range step.Header {
		if value == "" {
			request.Header.Del(name)
			continue
		}
		request.Header.Set(name, strings.ReplaceAll(fill(value, values), "${token}", target.Token))
	}
	return request, nil
}

func encode(step Step, values map[string]string) (body []byte, contentType string, err error) {
	switch {
	case step.JSON != nil:
		data, err := json.Marshal(step.JSON)
		if err != nil {
			return nil, "", err
		}
		return []byte(fill(string(data), values)), "application/json", nil
	case step.Form != nil:
		form := url.Values{}
		for name, value := range step.Form {
			form.Set(name, fill(value, values))
		}
		return []byte(form.Encode()), "application/x-www-form-urlencoded", nil
	case step.Body != "":
		return []byte(fill(step.Body, values)), "application/json", nil
	default:
		return nil, "", nil
	}
}

// placeholder matches ${name}; "${name:number}" in quotes loses the quotes, so that YAML can
// contain a JSON number that is known only at run time.
var placeholder = regexp.MustCompile(`"\$\{(\w+):number\}"|\$\{(\w+)\}`)

func fill(text string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		parts := placeholder.FindStringSubmatch(found)
		if value, ok := values[parts[1]+parts[2]]; ok {
			return value
		}
		return found
	})
}

func check(step Step, response *http.Response, body []byte, values map[string]string) error {
	if response.StatusCode != step.Status {
		return fmt.Errorf("status is %d, but must be %d: %s", response.StatusCode, step.Status, cut(body))
	}
	for name, want := range step.ExpectHeader {
		if err := checkHeader(response.Header, name, fill(want, values)); err != nil {
			return err
		}
	}
	if err := checkError(response, body); err != nil {
		return err
	}
	if step.Text != nil && string(body) != fill(*step.Text, values) {
		return fmt.Errorf("response is %q, but must be %q", cut(body), *step.Text)
	}
	var decoded any
	if step.Expect != nil || len(step.Keep) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&decoded); err != nil && len(body) > 0 {
			return fmt.Errorf("response is not JSON: %w: %s", err, cut(body))
		}
	}
	if step.Expect != nil {
		expected, err := expectation(step.Expect, values)
		if err != nil {
			return err
		}
		if err := Match(expected, decoded); err != nil {
			return err
		}
	}
	return storeValues(step.Keep, response.Header, decoded, values)
}

// expectation returns a copy of the expected value with the values filled in.
func expectation(expected any, values map[string]string) (any, error) {
	data, err := json.Marshal(expected)
	if err != nil {
		return nil, err
	}
	// The encoder escapes the angle brackets of placeholders; the decoder restores them.
	decoder := json.NewDecoder(strings.NewReader(fill(string(data), values)))
	decoder.UseNumber()
	var filled any
	err = decoder.Decode(&filled)
	return filled, err
}

func checkHeader(header http.Header, name, want string) error {
	got, present := header[http.CanonicalHeaderKey(name)]
	switch {
	case want == "<absent>" && present:
		return fmt.Errorf("header %s is %q, but must be absent", name, got)
	case want == "<absent>":
		return nil
	case !present:
		return fmt.Errorf("header %s is absent", name)
	}
	return match("header "+name, want, strings.Join(got, ", "))
}

func storeValues(wanted map[string]string, header http.Header, decoded any, values map[string]string) error {
	for name, path := range wanted {
		if headerName, ok := strings.CutPrefix(path, "header:"); ok {
			values[name] = header.Get(headerName)
			continue
		}
		value, err := lookup(decoded, path)
		if err != nil {
			return err
		}
		values[name] = value
	}
	return nil
}

func lookup(decoded any, path string) (string, error) {
	at := decoded
	for _, part := range strings.Split(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return "", fmt.Errorf("no %s in %s", path, show(decoded))
			}
			at = v[i]
		default:
			return "", fmt.Errorf("no %s in %s", path, show(decoded))
		}
	}
	if at == nil {
		return "", fmt.Errorf("no %s in %s", path, show(decoded))
	}
	return fmt.Sprint(at), nil
}

func cut(body []byte) string {
	if len(body) > 2000 {
		return string(body[:2000]) + "…"
	}
	return string(body)
}
