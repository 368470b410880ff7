package standalone

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/services/standalone/internal/remote"
)

// Clients contains the commands for the OAuth clients of a tenant.
type Clients struct {
	List   listClients  `cmd:"" help:"List the clients."`
	Create createClient `cmd:"" help:"Create a client, and print its secret. The secret cannot be shown again."`
	Rotate rotateClient `cmd:"" name:"rotate-secret" help:"Set a new secret for a client, and print it. The old secret becomes invalid at once."`
	Delete deleteClient `cmd:"" help:"Delete a client, and revoke the tokens that users got through it."`
}

const clientsPath = "/v1/auth/clients"

// oauthClient is a client in the API's representation.
type oauthClient struct {
	ClientID      string   `json:"clientId,omitempty"`
	ClientSecret  string   `json:"clientSecret,omitempty"`
	Enabled       *bool    `json:"enabled,omitempty"`
	PasswordGrant *bool    `json:"passwordGrant,omitempty"`
	RefreshGrant  *bool    `json:"refreshGrant,omitempty"`
	ClientGrant   *bool    `json:"clientGrant,omitempty"`
	AccessProfile string   `json:"accessProfile,omitempty"`
	Scopes        []string `json:"scopes,omitempty"`
}

// grants returns the names of the client's grants.
func (c *oauthClient) grants() string {
	var names []string
	for _, grant := range []struct {
		name    string
		allowed *bool
	}{{"password", c.PasswordGrant}, {"refresh_token", c.RefreshGrant}, {"client_credentials", c.ClientGrant}} {
		if grant.allowed != nil && *grant.allowed {
			names = append(names, grant.name)
		}
	}
	return strings.Join(names, ",")
}

// printSecret prints a client with its new secret.
func printSecret(o boot.Output, out io.Writer, raw json.RawMessage) error {
	var created oauthClient
	if err := json.Unmarshal(raw, &created); err != nil {
		return err
	}
	if o.JSON() {
		return o.Print(out, raw, nil)
	}
	_, err := fmt.Fprintf(out, "client_id: %s\nclient_secret: %s\n", created.ClientID, created.ClientSecret)
	return err
}

type listClients struct {
	boot.Output
	remote.Server
}

// Do prints one line for each client.
func (l *listClients) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	client, err := l.Connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	var raw json.RawMessage
	if err := client.Call(ctx, http.MethodGet, clientsPath, nil, &raw); err != nil {
		return err
	}
	var found []oauthClient
	if err := json.Unmarshal(raw, &found); err != nil {
		return err
	}
	return l.Print(out, raw, func(table io.Writer) {
		fmt.Fprintln(table, "client\tstate\tgrants\taccess profile\tscopes")
		for _, c := range found {
			state := "enabled"
			if c.Enabled != nil && !*c.Enabled {
				state = "disabled"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", c.ClientID, state, c.grants(), c.AccessProfile, strings.Join(c.Scopes, ","))
		}
	})
}

type createClient struct {
	boot.Output
	remote.Server
	ClientID      string   `arg:"" name:"id" optional:"" help:"Id of the client; generated if omitted."`
	AccessProfile string   `help:"Function access profile for the client's own work (client_credentials). Without a profile, the client cannot use this grant."`
	Scopes        []string `help:"Scopes that limit the client's tokens: permissions or names of groups. Default: no limit."`
	NoPassword    bool     `help:"Prevent users from logging in with the client."`
}

// Do creates the client and prints it with its secret.
func (c *createClient) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	client, err := c.Connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	users, own := !c.NoPassword, c.AccessProfile != ""
	wanted := oauthClient{
		ClientID: c.ClientID, PasswordGrant: &users, RefreshGrant: &users, ClientGrant: &own, AccessProfile: c.AccessProfile, Scopes: c.Scopes,
	}
	var raw json.RawMessage
	if err := client.Call(ctx, http.MethodPost, clientsPath, wanted, &raw); err != nil {
		return err
	}
	return printSecret(c.Output, out, raw)
}

// oneClient selects a client.
type oneClient struct {
	remote.Server
	ClientID string `arg:"" name:"id" help:"Id of the client."`
}

func (o *oneClient) path() string { return clientsPath + "/" + url.PathEscape(o.ClientID) }

type rotateClient struct {
	boot.Output
	oneClient
}

// Do prints the client with its new secret.
func (r *rotateClient) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	client, err := r.Connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	var raw json.RawMessage
	if err := client.Call(ctx, http.MethodPost, r.path()+"/rotate_secret", struct{}{}, &raw); err != nil {
		return err
	}
	return printSecret(r.Output, out, raw)
}

type deleteClient struct {
	boot.Output
	oneClient
}

// Do deletes the client and reports success.
func (d *deleteClient) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	client, err := d.Connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Call(ctx, http.MethodDelete, d.path(), nil, nil); err != nil {
		return err
	}
	return d.PrintLine(out, map[string]any{"clientId": d.ClientID, "deleted": true}, "%s is deleted", d.ClientID)
}
