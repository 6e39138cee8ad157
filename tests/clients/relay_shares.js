// A page of shares, and a share that is read again by its id.
const page = graphql`
  query SharesQuery {
    ...Shares_query
  }
`;

const shares = graphql`
  fragment Shares_query on Query
  @refetchable(queryName: "SharesPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" }) {
    shares(first: $count, after: $cursor, sorting: [NAME]) @connection(key: "Shares_shares") {
      edges {
        node {
          ...Shares_share
        }
      }
    }
  }
`;

const share = graphql`
  fragment Shares_share on Share @refetchable(queryName: "ShareAgainQuery") {
    name
    visibility
  }
`;
