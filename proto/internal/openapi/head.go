package openapi

// about is the introduction for all operations.
const about = `Every operation answers under /v1/… and under /api/v1/…, over HTTPS only.

**Authentication.** POST /api/authentication/access_token returns an access token for a password or a refresh token. Send it
as *Authorization: Bearer TOKEN*; the token alone is understood as well.

**Dates** are YYYY-MM-DD. Date-times and times are local wall-clock times without a zone, unless a description says otherwise. An end that
is open is 3000-01-01.

**References** name an object by id, by qualifier, or both; the id wins.

**Leniency.** Requests may hold numbers as text and texts as numbers, one value where a list is expected, null for absent,
and fractions for integers, which are cut. An unknown property of a body is refused (WFP-90011); an unknown query parameter is ignored.

**Errors** are objects of errorCode, message and details. A bulk operation is all or nothing, unless partial_success=true asks for 207.

**x-origin** distinguishes operations of the reference product from own ones. **x-permission** is what the caller needs, **x-throttling-class** the
class of requests that share one rate, and **x-limit** the most that one request may ask for.`

const (
	bearer   = "bearer"
	password = "password"
)

// head returns a description without operations.
func head() *Document {
	return &Document{
		OpenAPI: "3.1.1",
		Info: Info{
			Title: "Rotaloom", Version: "v1", Summary: "The HTTP API of the workforce-management server.", Description: about,
		},
		Servers:  []Server{{URL: "/", Description: "The server that this description comes from."}},
		Security: []Security{{bearer: {}}, {password: {}}},
		Paths:    &Map[*PathItem]{},
		Components: Components{
			SecuritySchemes: map[string]*SecurityScheme{
				bearer: {
					Type: "http", Scheme: "bearer", BearerFormat: "JWT",
					Description: "An access token of this server, or one of an identity provider that the tenant trusts.",
				},
				password: {
					Type: "oauth2", Description: "The password grant. The request also carries auth_chain=OAuthLdapService.",
					Flows: map[string]Flow{"password": {
						TokenURL: "/api/authentication/access_token", RefreshURL: "/api/authentication/access_token",
						Scopes: map[string]string{},
					}},
				},
			},
		},
	}
}

// oauthErrorSchema returns the schema of errors of RFC 6749, section 5.2.
func oauthErrorSchema() *Schema {
	s := &Schema{
		Type: "object", Description: "An error of the token operations (RFC 6749, section 5.2).",
		Properties: &Map[*Schema]{}, Required: []string{"error"},
	}
	s.Properties.Set("error", &Schema{Type: "string"})
	s.Properties.Set("error_description", &Schema{Type: "string"})
	return s
}
