package seed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Client calls the public API, like an integrator's program.
type Client struct {
	// BaseURL has no trailing slash.
	BaseURL string
	HTTP    *http.Client
	token   string
	who     Credentials
}

// Credentials are the variable fields of the password grant.
type Credentials struct {
	Username     string `json:"username"`
	Password     string `json:"password"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

// refused is an error response.
type refused struct {
	status int
	body   []byte
}

func (e *refused) Error() string {
	return fmt.Sprintf("returned %d: %s", e.status, e.body)
}

// Login gets an access token with the password grant.
func (c *Client) Login(ctx context.Context, who Credentials) error {
	form := url.Values{
		"grant_type":    {"password"},
		"auth_chain":    {"OAuthLdapService"},
		"username":      {who.Username},
		"password":      {who.Password},
		"client_id":     {who.ClientID},
		"client_secret": {who.ClientSecret},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		c.BaseURL+"/api/authentication/access_token", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var reply struct {
		AccessToken string `json:"access_token"`
	}
	if _, err := c.do(request, &reply); err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	c.token, c.who = reply.AccessToken, who
	return nil
}

// actAs returns a client that acts for another user.
func (c *Client) actAs(ctx context.Context, username, password string) (*Client, error) {
	other, who := &Client{BaseURL: c.BaseURL, HTTP: c.HTTP}, c.who
	who.Username, who.Password = username, password
	return other, other.Login(ctx, who)
}

// call sends body as JSON and decodes the response into reply, unless that is nil.
func (c *Client) call(ctx context.Context, method, path string, body, reply any) error {
	_, err := c.send(ctx, method, path, body, reply)
	return err
}

// send is like call, and returns the headers of the response.
func (c *Client) send(ctx context.Context, method, path string, body, reply any) (http.Header, error) {
	var payload bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&payload).Encode(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.BaseURL+path, &payload)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.token)
	header, err := c.do(request, reply)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return header, nil
}

func (c *Client) do(request *http.Request, reply any) (http.Header, error) {
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices || response.StatusCode == http.StatusMultiStatus {
		return nil, &refused{status: response.StatusCode, body: body}
	}
	if reply == nil {
		return response.Header, nil
	}
	return response.Header, json.Unmarshal(body, reply)
}
