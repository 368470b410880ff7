package examples

import (
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

var update = flag.Bool("update", false, "record the responses")

// shownLines is the number of lines that a recorded response has at most.
const shownLines = 150

// demonstration is a server with the demonstration, and the tokens of its users.
type demonstration struct {
	*launch.Server
	password string
	mu       sync.Mutex
	tokens   map[string]string
	guids    *guids
}

func start(t *testing.T) *demonstration {
	t.Helper()
	// A first start, like that of a reader: later starts may skip ids.
	d := &demonstration{Server: launch.StandaloneIn(t, t.TempDir(), nil, "--demo"), tokens: map[string]string{}, guids: newGUIDs()}
	data, err := os.ReadFile(filepath.Join(d.StateDir, "demo.json"))
	require.NoError(t, err)
	var demo struct {
		Password string `json:"password"`
	}
	require.NoError(t, json.Unmarshal(data, &demo))
	d.password = demo.Password
	return d
}

// token logs a user in, once.
func (d *demonstration) token(t *testing.T, user string) string {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tokens[user] == "" {
		ready := d.Ready
		if user != "" {
			ready.Credentials.Username, ready.Credentials.Password = user, d.password
		}
		d.tokens[user] = launch.Login(t, d.Client, ready).Token
	}
	return d.tokens[user]
}

// Every example of the API description works as it is shown.
func TestExamplesWork(t *testing.T) {
	t.Parallel()
	files, err := Read("requests")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	d := start(t)
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			for i, example := range f.Examples {
				t.Run(example.Title, func(t *testing.T) { d.try(t, f, i) })
			}
			if *update {
				require.NoError(t, f.Write())
			}
		})
	}
}

// try sends an example, and compares or records its response.
func (d *demonstration) try(t *testing.T, f *File, i int) {
	example := f.Examples[i]
	require.Equal(t, strings.TrimSuffix(example.Title, "."), example.Title, "titles end without a full stop")
	if example.Unsent != "" {
		return
	}
	status, kind, body := d.send(t, example)
	if *update && example.Status == 0 && status < http.StatusBadRequest {
		f.setStatus(i, status)
	} else {
		require.Equal(t, example.Status, status, "%s", body)
	}
	var got any
	if strings.HasPrefix(kind, "application/json") {
		require.NoError(t, json.Unmarshal(body, &got))
	}
	recorded, err := jsonValue(example.Response)
	require.NoError(t, err)
	d.guids.relate(recorded, got)
	if *update {
		record(t, f, i, d.guids.restoreRecorded(got))
		return
	}
	if example.Varies != "" {
		require.NoError(t, compareNames(recorded, got))
		return
	}
	require.NoError(t, compare("the response", recorded, got))
}

func record(t *testing.T, f *File, i int, got any) {
	t.Helper()
	shown := cut(got)
	text, err := json.MarshalIndent(shown, "", " ")
	require.NoError(t, err)
	assert.LessOrEqual(t, strings.Count(string(text), "\n"), shownLines, "no reader wants so long a response: ask for less")
	require.NoError(t, f.setResponse(i, shown))
}

// send sends an example, and returns the status, the content type and the body of the response.
func (d *demonstration) send(t *testing.T, example Example) (status int, kind string, body []byte) {
	t.Helper()
	method, target, _ := strings.Cut(d.guids.insertCurrent(example.Do), " ")
	var payload io.Reader
	contentType := "application/json"
	switch {
	case example.Form != nil:
		form := url.Values{}
		for name, value := range example.Form {
			form.Set(name, d.guids.insertCurrent(value))
		}
		payload, contentType = strings.NewReader(form.Encode()), "application/x-www-form-urlencoded"
	case example.JSON != nil:
		value, err := jsonValue(example.JSON)
		require.NoError(t, err)
		data, err := json.Marshal(value)
		require.NoError(t, err)
		payload = strings.NewReader(d.guids.insertCurrent(string(data)))
	}
	request, err := http.NewRequestWithContext(t.Context(), method, d.BaseURL+target, payload)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+d.token(t, example.As))
	if payload != nil {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := d.Client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header.Get("Content-Type"), body
}
