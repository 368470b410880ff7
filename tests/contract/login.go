package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Login gets an access token by the password grant, with the credentials in the target's values.
func Login(ctx context.Context, target Target) (string, error) {
	form := url.Values{"grant_type": {"password"}, "auth_chain": {"OAuthLdapService"}}
	for _, field := range []string{"username", "password", "client_id", "client_secret"} {
		form.Set(field, target.Values[field])
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		target.BaseURL+"/api/authentication/access_token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := target.Client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &token); err != nil || token.AccessToken == "" {
		return "", fmt.Errorf("the password grant returned %d: %s", response.StatusCode, cut(body))
	}
	return token.AccessToken, nil
}
