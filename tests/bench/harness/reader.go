package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Reader sends the same request repeatedly over one connection.
type Reader struct {
	Client *http.Client
	URL    string
	Token  string
	Body   []byte
	// Accept is the Accept-Encoding, zstd or none. Received holds the decompressed response.
	Accept   string
	Received bytes.Buffer
}

// NewReader returns a reader of a URL; the token may be empty.
func NewReader(client *http.Client, url, token string, request scenario.Object) (*Reader, error) {
	body, err := json.Marshal(request)
	return &Reader{Client: client, URL: url, Token: token, Body: body}, err
}

// Read sends the request once. The response stays valid until the next Read.
func (r *Reader) Read(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.Token)
	request.Header.Set("Content-Type", "application/json")
	if r.Accept != "" {
		request.Header.Set("Accept-Encoding", r.Accept)
	}
	response, err := r.Client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	from := io.Reader(response.Body)
	if encoding := response.Header.Get("Content-Encoding"); encoding != r.Accept {
		return fmt.Errorf("%s: the Content-Encoding is %q instead of %q", r.URL, encoding, r.Accept)
	} else if encoding != "" {
		decoder, err := zstd.NewReader(from)
		if err != nil {
			return err
		}
		defer decoder.Close()
		from = decoder
	}
	r.Received.Reset()
	// Hide ReadFrom, because its behaviour depends on the free space in the buffer.
	if _, err := io.CopyBuffer(struct{ io.Writer }{&r.Received}, struct{ io.Reader }{from}, make([]byte, 64<<10)); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s returned %d: %.200s", r.URL, response.StatusCode, r.Received.Bytes())
	}
	return nil
}

// Alternate reads with all readers in turns, and returns the p50 of each round in milliseconds.
func Alternate(ctx context.Context, rounds int, readers ...*Reader) ([]Sample, error) {
	p50 := make([]Sample, len(readers))
	for round := range rounds + 1 {
		runtime.GC()
		times := make([]Sample, len(readers))
		for range readsPerRound {
			for i, r := range readers {
				began := time.Now()
				if err := r.Read(ctx); err != nil {
					return nil, err
				}
				times[i] = append(times[i], Milliseconds(time.Since(began)))
			}
		}
		for i := range readers {
			if round > 0 {
				p50[i] = append(p50[i], times[i].median())
			}
		}
	}
	return p50, nil
}

// ReadAs reads, and fails if the response differs from another reader's.
func (r *Reader) ReadAs(ctx context.Context, other *Reader) error {
	if err := r.Read(ctx); err != nil {
		return err
	}
	return r.Equals(other)
}

// Equals fails if the last responses of two readers differ.
func (r *Reader) Equals(other *Reader) error {
	if !bytes.Equal(other.Received.Bytes(), r.Received.Bytes()) {
		return fmt.Errorf("the baseline returns other bytes:\n%.700s\n%.700s", r.Received.Bytes(), other.Received.Bytes())
	}
	return nil
}

// Post returns a reader of one operation.
func Post(api scenario.API, path string, body scenario.Object) (*Reader, error) {
	return NewReader(api.Client, api.BaseURL+path, api.Token, body)
}
