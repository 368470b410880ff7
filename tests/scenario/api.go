// Package scenario sets up situations through the public API: persons on employment terms, patterns
// on the terms, and the resulting schedules. Fault tests and benchmarks share it.
package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/rotaloom/rotaloom/tests/contract"
)

// API calls a running server.
type API struct{ contract.Target }

// Refused is an unsuccessful response.
type Refused struct {
	Status int
	Header http.Header
	Body   []byte
}

func (e *Refused) Error() string { return fmt.Sprintf("returned %d: %s", e.Status, e.Body) }

// Object is a JSON object.
type Object = map[string]any

// Call sends body as JSON, if it is not nil, and decodes the response into reply, if that is not
// nil.
func (a API) Call(ctx context.Context, method, path string, body, reply any) (http.Header, error) {
	header, data, err := a.Bytes(ctx, method, path, body)
	if err != nil || reply == nil {
		return header, err
	}
	return header, json.Unmarshal(data, reply)
}

// Bytes is Call with the raw response.
func (a API) Bytes(ctx context.Context, method, path string, body any) (http.Header, []byte, error) {
	var payload bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&payload).Encode(body); err != nil {
			return nil, nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, a.BaseURL+path, &payload)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+a.Token)
	request.Header.Set("Content-Type", "application/json")
	response, err := a.Client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	switch response.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent:
	default:
		return response.Header, nil, fmt.Errorf("%s %s: %w", method, path,
			&Refused{Status: response.StatusCode, Header: response.Header, Body: data})
	}
	return response.Header, data, nil
}
