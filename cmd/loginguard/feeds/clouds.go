package feeds

import (
	"encoding/json"
	"fmt"
)

// parseAWS reads https://ip-ranges.amazonaws.com/ip-ranges.json, described in
// the guide of Amazon VPC, "AWS IP address ranges JSON". A block is listed once
// for each service that uses it, and once more for AMAZON.
func parseAWS(data []byte, k *keeper) {
	type prefix struct {
		IPv4    *string `json:"ip_prefix"`
		IPv6    *string `json:"ipv6_prefix"`
		Region  string  `json:"region"`
		Service string  `json:"service"`
	}
	var doc struct {
		Created string    `json:"createDate"`
		IPv4    *[]prefix `json:"prefixes"`
		IPv6    *[]prefix `json:"ipv6_prefixes"`
	}
	if !decode(data, &doc, k) {
		return
	}
	k.publishedAs(doc.Created)
	for _, list := range []struct {
		name, member string
		prefixes     *[]prefix
	}{{"prefixes", "ip_prefix", doc.IPv4}, {"ipv6_prefixes", "ipv6_prefix", doc.IPv6}} {
		if list.prefixes == nil {
			k.needed(list.name, "ip-ranges.json of Amazon Web Services")
			continue
		}
		for i, p := range *list.prefixes {
			text := p.IPv4
			if list.member == "ipv6_prefix" {
				text = p.IPv6
			}
			at := fmt.Sprintf("%s[%d]", list.name, i)
			// Both are asked, so that each knows what there is.
			service, region := k.services.keeps(p.Service), k.regions.keeps(p.Region)
			switch {
			case text == nil:
				k.fault(at, "has no %s", list.member)
			case service && region:
				k.block(at+"."+list.member, *text)
			}
		}
	}
}

// parseGoogle reads https://www.gstatic.com/ipranges/cloud.json, which are the
// blocks of customers, and goog.json beside it, all of Google, which has no
// service and no scope.
func parseGoogle(data []byte, k *keeper) {
	var doc struct {
		Created  string `json:"creationTime"`
		Prefixes *[]struct {
			IPv4    *string `json:"ipv4Prefix"`
			IPv6    *string `json:"ipv6Prefix"`
			Service string  `json:"service"`
			Scope   string  `json:"scope"`
		} `json:"prefixes"`
	}
	if !decode(data, &doc, k) {
		return
	}
	k.publishedAs(doc.Created)
	if doc.Prefixes == nil {
		k.needed("prefixes", "cloud.json of Google")
		return
	}
	for i, p := range *doc.Prefixes {
		at := fmt.Sprintf("prefixes[%d]", i)
		service, region := k.services.keeps(p.Service), k.regions.keeps(p.Scope)
		switch {
		case p.IPv4 == nil && p.IPv6 == nil:
			k.fault(at, "has neither ipv4Prefix nor ipv6Prefix")
		case !service || !region:
		default:
			if p.IPv4 != nil {
				k.block(at+".ipv4Prefix", *p.IPv4)
			}
			if p.IPv6 != nil {
				k.block(at+".ipv6Prefix", *p.IPv6)
			}
		}
	}
}

// parseAzure reads ServiceTags_Public_DATE.json ("Azure IP Ranges and Service
// Tags", Microsoft Download Center 56519). The tag AzureCloud is all of Azure,
// AzureCloud.westeurope one region of it.
func parseAzure(data []byte, k *keeper) {
	var doc struct {
		Change json.Number `json:"changeNumber"`
		Values *[]struct {
			Name       string `json:"name"`
			Properties struct {
				Prefixes *[]string `json:"addressPrefixes"`
			} `json:"properties"`
		} `json:"values"`
	}
	if !decode(data, &doc, k) {
		return
	}
	if doc.Change != "" {
		k.publishedAs("change " + doc.Change.String())
	}
	if doc.Values == nil {
		k.needed("values", "the ServiceTags file of Microsoft Azure")
		return
	}
	for i, v := range *doc.Values {
		at := fmt.Sprintf("values[%d].properties.addressPrefixes", i)
		kept := k.tags.keeps(v.Name)
		switch {
		case v.Properties.Prefixes == nil:
			k.fault(at, "is missing")
		case kept:
			for j, text := range *v.Properties.Prefixes {
				k.block(fmt.Sprintf("%s[%d]", at, j), text)
			}
		}
	}
}

// parseOracle reads https://docs.oracle.com/en-us/iaas/tools/public_ip_ranges.json.
// Its tags are OCI for the blocks of customers, OSN and OBJECT_STORAGE for
// services of Oracle.
func parseOracle(data []byte, k *keeper) {
	var doc struct {
		Updated string `json:"last_updated_timestamp"`
		Regions *[]struct {
			Region string `json:"region"`
			CIDRs  *[]struct {
				CIDR *string  `json:"cidr"`
				Tags []string `json:"tags"`
			} `json:"cidrs"`
		} `json:"regions"`
	}
	if !decode(data, &doc, k) {
		return
	}
	k.publishedAs(doc.Updated)
	if doc.Regions == nil {
		k.needed("regions", "public_ip_ranges.json of Oracle Cloud")
		return
	}
	for i, r := range *doc.Regions {
		at := fmt.Sprintf("regions[%d].cidrs", i)
		region := k.regions.keeps(r.Region)
		if r.CIDRs == nil {
			k.fault(at, "is missing")
			continue
		}
		for j, c := range *r.CIDRs {
			tag := k.tags.keeps(c.Tags...)
			switch {
			case c.CIDR == nil:
				k.fault(fmt.Sprintf("%s[%d]", at, j), "has no cidr")
			case region && tag:
				k.block(fmt.Sprintf("%s[%d].cidr", at, j), *c.CIDR)
			}
		}
	}
}
