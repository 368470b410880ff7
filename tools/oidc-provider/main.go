// Command oidc-provider is an OpenID provider for tests. It uses fosite, the library of Ory Hydra,
// with users and keys in memory. It issues JWT access tokens by the password grant, supports
// discovery, and replaces its key on POST /rotate. It is a separate module, so that its
// dependencies stay out of the product.
package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v3"
	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/storage"
	"github.com/ory/fosite/token/jwt"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address")
	life := flag.Duration("life", time.Hour, "life of access tokens")
	flag.Parse()
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	p := &provider{issuer: "http://" + listener.Addr().String()}
	p.rotate()
	p.oauth = p.compose(*life)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("POST /token", p.serveToken)
	mux.HandleFunc("POST /rotate", func(http.ResponseWriter, *http.Request) { p.rotate() })
	fmt.Println(p.issuer) // The parent process waits for this line.
	log.Fatal(http.Serve(listener, mux))
}

// provider is an OpenID provider with one key at a time.
type provider struct {
	issuer string
	oauth  fosite.OAuth2Provider

	mu  sync.Mutex
	key *jose.JSONWebKey
}

func (p *provider) compose(life time.Duration) fosite.OAuth2Provider {
	store := storage.NewMemoryStore()
	store.Clients["web"] = &fosite.DefaultClient{
		ID: "web", Public: true, GrantTypes: []string{"password"}, Audience: []string{"rotaloom", "elsewhere"},
	}
	for _, name := range []string{"ada", "eve"} {
		store.Users[name] = storage.MemoryUserRelation{Username: name, Password: "secret-of-" + name}
	}
	config := &fosite.Config{AccessTokenLifespan: life, AccessTokenIssuer: p.issuer, GlobalSecret: make([]byte, 32)}
	strategy := compose.NewOAuth2JWTStrategy(p.current, compose.NewOAuth2HMACStrategy(config), config)
	return compose.Compose(config, store, strategy, compose.OAuth2ResourceOwnerPasswordCredentialsFactory)
}

// current returns the signing key.
func (p *provider) current(context.Context) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key, nil
}

func (p *provider) rotate() {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		log.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = &jose.JSONWebKey{Key: private, KeyID: rand.Text(), Algorithm: "RS256", Use: "sig"}
}

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{
		"issuer": p.issuer, "jwks_uri": p.issuer + "/keys", "token_endpoint": p.issuer + "/token",
		"response_types_supported": []string{"none"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (p *provider) keys(w http.ResponseWriter, r *http.Request) {
	key, _ := p.current(r.Context())
	reply(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.(*jose.JSONWebKey).Public()}})
}

// serveToken serves the password grant. The form fields "groups" and "person_number"
// become claims.
func (p *provider) serveToken(w http.ResponseWriter, r *http.Request) {
	now := time.Now().UTC()
	session := &oauth2.JWTSession{
		JWTClaims: &jwt.JWTClaims{
			Issuer: p.issuer, IssuedAt: now, NotBefore: now, Extra: map[string]any{"jti": rand.Text()},
		},
		JWTHeader: &jwt.Headers{},
		ExpiresAt: map[fosite.TokenType]time.Time{},
	}
	request, err := p.oauth.NewAccessRequest(r.Context(), r, session)
	if err != nil {
		p.oauth.WriteAccessError(r.Context(), w, request, err)
		return
	}
	session.JWTClaims.Subject = r.PostForm.Get("username")
	session.JWTClaims.Extra["preferred_username"] = r.PostForm.Get("username")
	if groups := r.PostForm.Get("groups"); groups != "" {
		session.JWTClaims.Extra["groups"] = strings.Split(groups, ",")
	}
	if number := r.PostForm.Get("person_number"); number != "" {
		session.JWTClaims.Extra["employee_number"] = number
	}
	request.GrantAudience(r.PostForm.Get("audience"))
	response, err := p.oauth.NewAccessResponse(r.Context(), request)
	if err != nil {
		p.oauth.WriteAccessError(r.Context(), w, request, err)
		return
	}
	p.oauth.WriteAccessResponse(r.Context(), w, request, response)
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		log.Print(err)
	}
}
