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
	// callTimeout bounds one request.
	callTimeout = time.Minute
	// maxResponse is the largest response, in bytes.
	maxResponse = 64 << 20
)

// Client calls the API of a server. It is not safe for concurrent use.
type Client struct {
	server Context
	http   *http.Client
	token  string
}

// Refused is an error response of the server.
type Refused struct {
	Status int
	// Code and Message come from the error body, if the response has one.
	Code    string `json:"errorCode"`
	Message string `json:"message"`
	// Description is the message of the token endpoint.
	Description string `json:"error_description"`
}

func (e *Refused) Error() string {
	switch {
	case e.Code != "":
		return fmt.Sprintf("the server returned %d (%s): %s", e.Status, e.Code, e.Message)
	case e.Description != "":
		return fmt.Sprintf("the server returned %d: %s", e.Status, e.Description)
	default:
		return fmt.Sprintf("the server returned %d %s", e.Status, http.StatusText(e.Status))
	}
}

// Connect logs in to a server and returns a client.
func Connect(ctx context.Context, server Context) (*Client, error) {
	connections, err := server.HTTPClient()
	if err != nil {
		return nil, err
	}
	c := &Client{server: server, http: connections}
	if err := c.logIn(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("log in to %s: %w", server.URL, err)
	}
	return c, nil
}

// HTTPClient returns a client with new connections to the server.
func (c Context) HTTPClient() (*http.Client, error) {
	settings, err := c.tls()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = settings
	return &http.Client{Transport: transport, Timeout: callTimeout}, nil
}

// tls returns the TLS settings of connections.
func (c Context) tls() (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile == "" {
		return settings, nil
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("CA file of the server: %w", err)
	}
	settings.RootCAs = x509.NewCertPool()
	if !settings.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CA file of the server: %s contains no certificate", c.CAFile)
	}
	return settings, nil
}

// Close closes the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// logIn gets an access token.
func (c *Client) logIn(ctx context.Context) error {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.server.ClientID}, "client_secret": {c.server.ClientSecret}}
	if c.server.Username != "" {
		form.Set("grant_type", "password")
		form.Set("auth_chain", "OAuthLdapService")
		form.Set("username", c.server.Username)
		form.Set("password", c.server.Password)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server.URL+"/api/authentication/access_token", strings.NewReader(form.Encode()))
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

// Call sends body as JSON, unless it is nil, and decodes the response into response, unless that is nil. It
// replaces an expired token.
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
	request, err := http.NewRequestWithContext(ctx, method, c.server.URL+path, bytes.NewReader(payload))
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
		_ = json.Unmarshal(data, refused) // A proxy may respond in another form.
		return refused
	}
	if into == nil || len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the response of %s %s is malformed: %w", request.Method, request.URL.Path, err)
	}
	return nil
}
