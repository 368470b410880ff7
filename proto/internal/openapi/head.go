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

**Pages.** Pages by number (index and count) skip or repeat rows when rows are created or deleted between two pages. Pages by cursor
return each row that exists the whole time exactly once. Send *after* as "" for the first page. Each response has the next cursor as *next*, or,
if it is a bare array, the address of the next page as Link (rel next): repeat the request there. On the last page there is neither. The other
values of the request, except count, stay the same from page to page (400 WRL-00441).

**Errors**, and 207 responses, are objects of errorCode, message, details, requestId and help. requestId is the id under which the operator finds the request in the
log, and help the page on this server that explains the code. If several values of a request are wrong, the error is the first one, and
details.violations lists all of them, at most 20. Recruiting answers a list with an item of type, message_code, member_names and message for each
of them. A fault of the form of a request (malformed JSON, an unknown property, too many items) refuses the whole request, also of several
items. Each operation on several items says whether a fault of one item refuses the whole request, or gives 207.

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

// Descriptions of properties that all forms of errors have.
const (
	descriptionRequestID = "The id of the request, which the server's log and the header X-Request-Id also have."
	descriptionHelp      = "The path of the page on this server that explains the error code. Servers that serve no documentation leave it out."
)

// oauthErrorSchema returns the schema of errors of RFC 6749, section 5.2.
func oauthErrorSchema() *Schema {
	s := &Schema{
		Type: "object", Description: "An error of the token operations (RFC 6749, section 5.2).",
		Properties: &Map[*Schema]{}, Required: []string{"error"},
	}
	s.Properties.Set("error", &Schema{
		Type: "string", Description: "The reason, for programs. slow_down: too many log-ins failed, or the rate limit is exceeded. " +
			"temporarily_unavailable: try again later.",
		Enum: []any{
			"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
			"slow_down", "temporarily_unavailable", "server_error",
		},
	})
	s.Properties.Set("error_description", &Schema{Type: "string", Description: "The reason in English, for people, with the remedy."})
	s.Properties.Set("error_uri", &Schema{Type: "string", Description: descriptionHelp})
	s.Properties.Set("request_id", &Schema{Type: "string", Description: descriptionRequestID})
	return s
}

// errorItemsSchema returns the schema of errors of operations with error_items.
func errorItemsSchema() *Schema {
	item := &Schema{Type: "object", Properties: &Map[*Schema]{}, Required: []string{"type", "message_code", "member_names", "message"}}
	item.Properties.Set("type", &Schema{
		Type: "integer", Enum: []any{1, 2, 3, 4, 5, 6},
		Description: "1: the request is wrong. 2: the object does not exist, or the caller may not see it. 3: the request does not fit the state of the object. " +
			"4: the caller is unknown or may not do this. 5: a limit of sizes or rates is exceeded. 6: the server failed or is not available.",
	})
	item.Properties.Set("message_code", &Schema{Type: "string", Description: "The stable code of the error."})
	item.Properties.Set("member_names", &Schema{
		Type: "array", Items: &Schema{Type: "string"},
		Description: "The paths of the properties or parameters at fault, where they are known: skills[2].proficiency_level.id.",
	})
	item.Properties.Set("message", &Schema{Type: "string", Description: "A text for users that says what to do."})
	item.Properties.Set("request_id", &Schema{Type: "string", Description: descriptionRequestID})
	item.Properties.Set("help", &Schema{Type: "string", Description: descriptionHelp})
	return &Schema{Type: "array", Items: item, Description: "An error: a list with one item for each fault that was found, at most 20."}
}
