package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	// callTimeout is how long one request may take.
	callTimeout = time.Minute
	// maxResponse bounds what is read of a response, in bytes.
	maxResponse = 64 << 20
)

// Client calls the API of a server. It is used by one goroutine.
type Client struct {
	of    Context
	http  *http.Client
	token string
}

// Refused is a response that is not a success.
type Refused struct {
	Status int
	// Code and Message are those of the error, when the response has them.
	Code    string `json:"errorCode"`
	Message string `json:"message"`
	// Description is what the token endpoint says instead.
	Description string `json:"error_description"`
}

func (e *Refused) Error() string {
	switch {
	case e.Code != "":
		return fmt.Sprintf("the server refuses with %d (%s): %s", e.Status, e.Code, e.Message)
	case e.Description != "":
		return fmt.Sprintf("the server refuses with %d: %s", e.Status, e.Description)
	default:
		return fmt.Sprintf("the server refuses with %d %s", e.Status, http.StatusText(e.Status))
	}
}

// Connect returns a client of a server that has logged in.
func Connect(ctx context.Context, of Context) (*Client, error) {
	own, err := of.HTTPClient()
	if err != nil {
		return nil, err
	}
	c := &Client{of: of, http: own}
	if err := c.logIn(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("log in to %s: %w", of.URL, err)
	}
	return c, nil
}

// HTTPClient returns a client with connections of its own to the server.
func (c Context) HTTPClient() (*http.Client, error) {
	settings, err := c.tls()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = settings
	return &http.Client{Transport: transport, Timeout: callTimeout}, nil
}

// tls is whom connections trust.
func (c Context) tls() (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile == "" {
		return settings, nil
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("authorities of the server: %w", err)
	}
	settings.RootCAs = x509.NewCertPool()
	if !settings.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("authorities of the server: %s holds no certificate", c.CAFile)
	}
	return settings, nil
}

// Close ends the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// logIn gets an access token.
func (c *Client) logIn(ctx context.Context) error {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.of.ClientID}, "client_secret": {c.of.ClientSecret}}
	if c.of.Username != "" {
		form.Set("grant_type", "password")
		form.Set("auth_chain", "OAuthLdapService")
		form.Set("username", c.of.Username)
		form.Set("password", c.of.Password)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.of.URL+"/api/authentication/access_token", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	err = c.do(request, &issued)
	c.token = issued.AccessToken
	return err
}

// Call sends body as JSON, unless it is nil, and decodes the response into response,
// unless that is nil. A token that has expired meanwhile is replaced.
func (c *Client) Call(ctx context.Context, method, path string, body, response any) error {
	err := c.call(ctx, method, path, body, response)
	if refused := new(Refused); errors.As(err, &refused) && refused.Status == http.StatusUnauthorized {
		if err := c.logIn(ctx); err != nil {
			return err
		}
		return c.call(ctx, method, path, body, response)
	}
	return err
}

func (c *Client) call(ctx context.Context, method, path string, body, response any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.of.URL+path, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	return c.do(request, response)
}

func (c *Client) do(request *http.Request, into any) error {
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		refused := &Refused{Status: response.StatusCode}
		_ = json.Unmarshal(data, refused) // A proxy's response may have another form.
		return refused
	}
	if into == nil || len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the response of %s %s cannot be read: %w", request.Method, request.URL.Path, err)
	}
	return nil
}
